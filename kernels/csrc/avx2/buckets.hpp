// Sums of points by bucket, and sums of buckets by weight.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arena.hpp"
#include "batch_addition.hpp"

namespace cuzk::avx2 {

// Fills buckets by pairwise addition of their sorted points, a chunk of buckets at a time that fits in the
// second-level cache. For one thread.
template <class C>
class bucket_filler {
  static constexpr int PW = point_words<C>;

  arena& memory_;
  const u64* points_;
  batch_adder<C> adder_;

 public:
  static constexpr std::size_t chunk_points = 8192;

  bucket_filler(arena& memory, const u64* points)
      : memory_(memory), points_(points), adder_(memory, adder_capacity) {}

  // Measured in cache, ns per addition with 256 / 512 / 1024 / 2048: 82 / 78 / 76 / 76; larger elements fill
  // the cache earlier.
  static constexpr int adder_capacity = PW > 8 ? 1024 : 2048;
  // So many points are summed as one.
  static constexpr std::size_t list_points = chunk_points;

  // sums[b] = sum of the points of bucket b, for the buckets [low, high); order: their points (2 index +
  // sign) from the first of bucket `low` on; counts: how many each bucket has.
  void fill(const std::uint32_t* order, const std::uint32_t* counts, int low, int high, u64* sums) {
    arena::scope scope(memory_);
    auto* count = memory_.take<std::uint32_t>(high);
    std::copy(counts + low, counts + high, count + low);
    while (low < high) {
      int end = low;
      std::size_t size = 0;
      while (end < high && (end == low || size + count[end] <= chunk_points)) size += count[end++];
      sum_buckets(order, count, low, end, sums);
      order += size;
      low = end;
    }
  }

  // The sum of points[list[i]], for at most list_points or so.
  void sum_list(const std::uint32_t* list, std::size_t length, u64* sum) {
    arena::scope scope(memory_);
    auto* order = memory_.take<std::uint32_t>(length);
    for (std::size_t i = 0; i < length; i++) order[i] = list[i] << 1;
    auto count = static_cast<std::uint32_t>(length);
    sum_buckets(order, &count, 0, 1, sum);
  }

 private:
  void copy_signed(u64* out, std::uint32_t place) {
    const u64* point = points_ + std::size_t{place >> 1} * PW;
    if (place & 1) {
      canonical_point<C>(tagged(point, true)).store(out);
    } else {
      std::memcpy(out, point, point_bytes<C>);
    }
  }

  // Halves the list of every bucket in [low, high): pairs are added, an odd last point is copied. The first
  // level takes the points in sorted order, later ones what the level before has left.
  template <bool First>
  void halve(const std::uint32_t* order, const u64* in, std::uint32_t* count, int low, int high, u64* out) {
    std::size_t from = 0;
    auto operand = [&](std::size_t i) {
      if constexpr (First) return tagged(points_ + std::size_t{order[i] >> 1} * PW, order[i] & 1);
      return tagged(in + i * PW, false);
    };
    for (int b = low; b < high; b++) {
      const std::uint32_t size = count[b];
      for (std::uint32_t k = 0; k + 1 < size; k += 2, out += PW)
        adder_.template push<First>({operand(from + k), operand(from + k + 1), out});
      if (size & 1) {
        if constexpr (First) {
          copy_signed(out, order[from + size - 1]);
        } else {
          std::memcpy(out, in + (from + size - 1) * PW, point_bytes<C>);
        }
        out += PW;
      }
      from += size;
      count[b] = (size + 1) / 2;
    }
    adder_.template flush<First>();
  }

  // Sums of the buckets [low, high), whose points begin at `order`. Uses up the counts.
  void sum_buckets(const std::uint32_t* order, std::uint32_t* count, int low, int high, u64* sums) {
    arena::scope scope(memory_);
    std::size_t room = 0;
    for (int b = low; b < high; b++) room += (count[b] + 1) / 2;
    u64 *in = memory_.take<u64>(room * PW), *out = memory_.take<u64>(room * PW);
    halve<true>(order, nullptr, count, low, high, in);
    while (*std::max_element(count + low, count + high) > 1) {
      halve<false>(nullptr, in, count, low, high, out);
      std::swap(in, out);
    }
    for (int b = low; b < high; b++) {
      u64* sum = sums + std::size_t(b) * PW;
      if (count[b] != 0) {
        std::memcpy(sum, in, point_bytes<C>);
        in += PW;
      } else {
        std::memset(sum, 0, point_bytes<C>);
      }
    }
  }
};

// Weighted sums of segments of `length` buckets each, many segments in step. For one thread.
template <class C>
class bucket_weigher {
  static constexpr int PW = point_words<C>;
  batch_adder<C> adder_;

 public:
  explicit bucket_weigher(arena& memory) : adder_(memory, bucket_filler<C>::adder_capacity) {}

  // For the segments [from, to): plain = sum of its buckets, weighted = sum of j + 1 times bucket j.
  void weigh(const u64* buckets, int length, std::size_t from, std::size_t to, u64* plain, u64* weighted) {
    std::memset(plain + from * PW, 0, (to - from) * point_bytes<C>);
    std::memset(weighted + from * PW, 0, (to - from) * point_bytes<C>);
    for (int j = length - 1; j >= 0; j--) {
      for (std::size_t s = from; s < to; s++) accumulate(plain + s * PW, buckets + (s * length + j) * PW);
      adder_.template flush<false>();
      for (std::size_t s = from; s < to; s++) accumulate(weighted + s * PW, plain + s * PW);
      adder_.template flush<false>();
    }
  }

 private:
  [[gnu::always_inline]] void accumulate(u64* sum, const u64* point) {
    if (is_infinity<C>(point)) return;
    if (is_infinity<C>(sum)) {
      std::memcpy(sum, point, point_bytes<C>);
    } else {
      adder_.template push<false>({tagged(sum, false), tagged(point, false), sum});
    }
  }
};

}  // namespace cuzk::avx2
