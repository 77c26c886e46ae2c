// One pass of a number-theoretic transform through shared memory.
//
// A block holds a tile: all values of the index bits [low, low + bits), its rows, for 2^column_bits
// neighbours, its columns. Ascending stages are decimation in time (reversed order in), descending ones their
// mirror images with inverse roots, so that values and coefficients need no reordering between the two. Two
// stages are done at a time.
#pragma once
#include "field.hpp"

namespace cuzk {

// table[m + j] is the j-th power of the primitive 2m-th root, j < m.
template <class F>
struct root_table {
  const fe<F>* powers;

  CUZK_HD fe<F> root(u64 m, u64 j) const { return powers[m + j]; }
  // difference = a - b, times root(m, j)^-1: that is -root(m, m - j), and 1 for j = 0.
  CUZK_HD fe<F> unroll_difference(const fe<F>& a, const fe<F>& b, u64 m, u64 j) const {
    return j == 0 ? a - b : (b - a) * powers[2 * m - j];
  }
};

// The tile in shared memory: halves of an element lie apart and rows are swizzled, so that the lanes of a
// warp meet few bank conflicts at any stride.
template <class F>
class tile_memory {
 public:
  static_assert(sizeof(fe<F>) == 2 * sizeof(uint4));
  CUZK_HD tile_memory(uint4* memory, u32 size) : low(memory), high(memory + size) {}

  CUZK_HD fe<F> operator[](u32 slot) const {
    u32 at = swizzled(slot);
    uint4 l = low[at], h = high[at];
    return fe<F>{{l.x, l.y, l.z, l.w, h.x, h.y, h.z, h.w}};
  }
  CUZK_HD void set(u32 slot, const fe<F>& x) {
    u32 at = swizzled(slot);
    low[at] = uint4{x.v[0], x.v[1], x.v[2], x.v[3]};
    high[at] = uint4{x.v[4], x.v[5], x.v[6], x.v[7]};
  }

 private:
  CUZK_HD static u32 swizzled(u32 slot) { return slot ^ (slot >> 3 & 7); }
  uint4 *low, *high;
};

CUZK_HD u64 reversed(u64 i, u32 bits) { return bits == 0 ? 0 : __brevll(i) >> (64 - bits); }

// Which element a slot of the tile is. Slots run along the columns, but along the rows where these are
// neighbours.
struct tile_shape {
  u32 low, bits, column_bits;
  u64 first_column;

  CUZK_HD u32 size() const { return 1u << (bits + column_bits); }
  CUZK_HD u32 row_shift() const { return low == 0 ? 0 : column_bits; }
  CUZK_HD u64 position(u32 slot) const {
    u32 row = low == 0 ? slot & ((1u << bits) - 1) : slot >> column_bits;
    u32 column = low == 0 ? slot >> bits : slot & ((1u << column_bits) - 1);
    u64 all = first_column + column;
    return (all >> low) << (low + bits) | (u64)row << low | (all & ((1ull << low) - 1));
  }
};

template <class F>
class tile_pass {
 public:
  CUZK_HD tile_pass(tile_memory<F> memory, const tile_shape& shape, root_table<F> table)
      : tile(memory), shape(shape), table(table) {}

  // An odd stage goes alone, at the lowest bit: first on the way up, last on the way down.
  CUZK_HD void ascend() {
    u32 bit = shape.bits % 2;
    if (bit != 0) for_groups<1>(0, [&](u32 slot, u32 step, u64 m, u64 j) { ascend_one(slot, step, m, j); });
    for (; bit < shape.bits; bit += 2)
      for_groups<2>(bit, [&](u32 slot, u32 step, u64 m, u64 j) { ascend_two(slot, step, m, j); });
  }
  CUZK_HD void descend() {
    for (u32 bit = shape.bits; bit >= 2; bit -= 2)
      for_groups<2>(bit - 2, [&](u32 slot, u32 step, u64 m, u64 j) { descend_two(slot, step, m, j); });
    if (shape.bits % 2 != 0)
      for_groups<1>(0, [&](u32 slot, u32 step, u64 m, u64 j) { descend_one(slot, step, m, j); });
  }

 private:
  // Groups of the 2^count slots that differ in the row bits [bit, bit + count): the first slot, the distance
  // of neighbours, and the stage m of the lowest bit with the index j of its root.
  template <int count, class Work>
  CUZK_HD void for_groups(u32 bit, const Work& work) {
    u32 shift = shape.row_shift() + bit, step = 1u << shift;
    u64 m = 1ull << (shape.low + bit);
    for (u32 group = threadIdx.x; group < shape.size() >> count; group += blockDim.x) {
      u32 slot = (group >> shift) << (shift + count) | (group & (step - 1));
      work(slot, step, m, shape.position(slot) & (m - 1));
    }
    __syncthreads();
  }

  CUZK_HD void ascend_one(u32 slot, u32 step, u64 m, u64 j) {
    fe<F> a = tile[slot], b = tile[slot + step];
    if (m != 1) b = b * table.root(m, j);
    tile.set(slot, a + b);
    tile.set(slot + step, a - b);
  }

  CUZK_HD void descend_one(u32 slot, u32 step, u64 m, u64 j) {
    fe<F> a = tile[slot], b = tile[slot + step];
    tile.set(slot, a + b);
    tile.set(slot + step, m == 1 ? a - b : table.unroll_difference(a, b, m, j));
  }

  CUZK_HD void ascend_two(u32 slot, u32 step, u64 m, u64 j) {
    fe<F> x0 = tile[slot], x1 = tile[slot + step], x2 = tile[slot + 2 * step], x3 = tile[slot + 3 * step];
    if (m != 1) {
      fe<F> first = table.root(m, j);
      x1 = x1 * first;
      x3 = x3 * first;
    }
    fe<F> even_sum = x0 + x1, even_difference = x0 - x1, odd_sum = x2 + x3;
    fe<F> odd_difference = (x2 - x3) * table.root(2 * m, j + m);
    if (m != 1) odd_sum = odd_sum * table.root(2 * m, j);
    tile.set(slot, even_sum + odd_sum);
    tile.set(slot + 2 * step, even_sum - odd_sum);
    tile.set(slot + step, even_difference + odd_difference);
    tile.set(slot + 3 * step, even_difference - odd_difference);
  }

  CUZK_HD void descend_two(u32 slot, u32 step, u64 m, u64 j) {
    fe<F> x0 = tile[slot], x1 = tile[slot + step], x2 = tile[slot + 2 * step], x3 = tile[slot + 3 * step];
    fe<F> even_sum = x0 + x2, odd_sum = x1 + x3;
    fe<F> even_difference = m == 1 ? x0 - x2 : table.unroll_difference(x0, x2, 2 * m, j);
    fe<F> odd_difference = table.unroll_difference(x1, x3, 2 * m, j + m);
    fe<F> upper = even_sum - odd_sum, lower = even_difference - odd_difference;
    if (m != 1) {
      upper = table.unroll_difference(even_sum, odd_sum, m, j);
      lower = table.unroll_difference(even_difference, odd_difference, m, j);
    }
    tile.set(slot, even_sum + odd_sum);
    tile.set(slot + step, upper);
    tile.set(slot + 2 * step, even_difference + odd_difference);
    tile.set(slot + 3 * step, lower);
  }

  tile_memory<F> tile;
  tile_shape shape;
  root_table<F> table;
};

}  // namespace cuzk
