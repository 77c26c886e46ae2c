// Constraints, transforms and the quotient over Fr; see cuda/README.md.
#include "cuda/transform.cuh"

namespace cuzk {
namespace {

using fr = fe<CUZK_CURVE::fr>;

constexpr u32 twiddles_each = 16;

struct alignas(8) term {
  u32 wire, coefficient;
};

struct matrix {
  const u64* row_starts;
  const term* terms;
  const fr* coefficients;
  const fr* witness;

  // The sum over the terms begin, begin + step, .. of a row.
  CUZK_HD fr partial_sum(u64 begin, u64 end, u64 step) const {
    fr sum = fr::zero();
    for (u64 i = begin; i < end; i += step) {
      term t = terms[i];
      sum = sum + coefficients[t.coefficient] * witness[t.wire];
    }
    return sum;
  }
};

enum pass_flag : u32 { descend = 1, ascend = 2, load_reversed = 4, store_reversed = 8 };

CUZK_HD u64 thread_of_grid() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// The j-th power of the primitive 2m-th root, m = 2^stage.
CUZK_HD fr power_of_root(const fr* roots, u32 stage, u64 j) {
  fr power = fr::one();
  for (u32 bit = 0; bit < stage; bit++) {
    if (j >> bit & 1) power = power * roots[stage + 1 - bit];
  }
  return power;
}

CUZK_HD u32 log_of(u64 x) {
  u32 log = 0;
  while (x >>= 1) log++;
  return log;
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

CUZK_KERNEL(128)
evaluate_rows(const u64* row_starts, const term* terms, const fr* coefficients, const fr* witness, u64 rows,
              u32 longest, fr* out) {
  u64 row = thread_of_grid();
  if (row >= rows) return;
  u64 begin = row_starts[row], end = row_starts[row + 1];
  if (end - begin > longest) return;
  out[row] = matrix{row_starts, terms, coefficients, witness}.partial_sum(begin, end, 1);
}

CUZK_KERNEL(128)
evaluate_long_rows(const u64* row_starts, const term* terms, const fr* coefficients, const fr* witness,
                   const u32* long_rows, fr* out) {
  fr* sums = shared_memory<fr>();
  u32 row = long_rows[blockIdx.x], self = threadIdx.x;
  matrix m{row_starts, terms, coefficients, witness};
  sums[self] = m.partial_sum(row_starts[row] + self, row_starts[row + 1], blockDim.x);
  __syncthreads();
  for (u32 half = blockDim.x / 2; half != 0; half /= 2) {
    if (self < half) sums[self] = sums[self] + sums[self + half];
    __syncthreads();
  }
  if (self == 0) out[row] = sums[0];
}

CUZK_KERNEL(256) multiply_pointwise(const fr* a, const fr* b, u64 n, fr* out) {
  u64 i = thread_of_grid();
  if (i < n) out[i] = a[i] * b[i];
}

CUZK_KERNEL(256) subtract_products(const fr* a, const fr* b, const fr* c, u64 n, u32 plain, fr* out) {
  u64 i = thread_of_grid();
  if (i >= n) return;
  fr h = a[i] * b[i] - c[i];
  out[i] = plain != 0 ? from_montgomery(h) : h;
}

CUZK_KERNEL(128) make_twiddles(const fr* roots, u32 log_n, fr* table) {
  u64 begin = thread_of_grid() * twiddles_each, end = begin + twiddles_each, n = 1ull << log_n;
  if (end > n) end = n;
  if (begin == 0) table[begin++] = fr::one();  // not used by any stage
  fr power = fr::one();
  for (u64 i = begin; i < end; i++) {
    u32 stage = log_of(i);
    bool starts = i == begin || i == 1ull << stage;
    power = starts ? power_of_root(roots, stage, i - (1ull << stage)) : power * roots[stage + 1];
    table[i] = power;
  }
}

CUZK_KERNEL(128) make_scales(const fr* powers, u32 log_n, fr* scales) {
  u64 position = thread_of_grid();
  if (position >= 1ull << log_n) return;
  u64 i = reversed(position, log_n);
  fr scale = powers[log_n];
  for (u32 bit = 0; bit < log_n; bit++) {
    if (i >> bit & 1) scale = scale * powers[bit];
  }
  scales[position] = scale;
}

CUZK_KERNEL(256, 2)
transform(const fr* source, fr* target, const fr* table, const fr* scales, u32 log_n, u32 low, u32 bits,
          u32 column_bits, u32 flags) {
  tile_shape shape{low, bits, column_bits, (u64)blockIdx.x << column_bits};
  tile_memory<CUZK_CURVE::fr> tile(shared_memory<uint4>(), shape.size());
  tile_pass<CUZK_CURVE::fr> pass(tile, shape, {table});
  u64 array = (u64)blockIdx.y << log_n;
  for (u32 slot = threadIdx.x; slot < shape.size(); slot += blockDim.x) {
    u64 position = shape.position(slot);
    tile.set(slot, source[array + (flags & load_reversed ? reversed(position, log_n) : position)]);
  }
  __syncthreads();
  if (flags & descend) pass.descend();
  if (scales != nullptr) {
    for (u32 slot = threadIdx.x; slot < shape.size(); slot += blockDim.x)
      tile.set(slot, tile[slot] * scales[shape.position(slot)]);
    __syncthreads();
  }
  if (flags & ascend) pass.ascend();
  for (u32 slot = threadIdx.x; slot < shape.size(); slot += blockDim.x) {
    u64 position = shape.position(slot);
    target[array + (flags & store_reversed ? reversed(position, log_n) : position)] = tile[slot];
  }
}

CUZK_ENTRY(evaluate_rows)
CUZK_ENTRY(evaluate_long_rows)
CUZK_ENTRY(multiply_pointwise)
CUZK_ENTRY(subtract_products)
CUZK_ENTRY(make_twiddles)
CUZK_ENTRY(make_scales)
CUZK_ENTRY(transform)
