// Scalars to signed digits, sorted by bucket; see cuda/README.md.
//
// A counting sort: count, exclusive sums, scatter. Lanes of a warp that hold the same digit take their places
// with one atomic, so that a vector of equal scalars costs no more than one of random ones.
#include "digits.hpp"

namespace cuzk {
namespace {

constexpr u32 scan_each = 8, scan_threads = 256;
constexpr u32 no_bucket = 0xffffffffu, all_lanes = 0xffffffffu, sign_bit = 0x80000000u;

struct alignas(8) entry {
  u32 bucket, point;  // the point's index with the sign of its digit
};

struct alignas(16) scalar {
  u64 w[scalar_words];
};

// The digit of one scalar in the window of this block: its bucket, or none for zero and beyond the last
// scalar.
struct placed_digit {
  u32 bucket, sign;
  u64 index;  // of the scalar, in the order of the selection

  CUZK_HD placed_digit(const scalar* scalars, const u32* selection, u64 n, const recoding& digits, u32 sets)
      : bucket(no_bucket), sign(0), index((u64)blockIdx.x * blockDim.x + threadIdx.x) {
    if (index >= n) return;
    scalar chosen = scalars[selection == nullptr ? index : selection[index]];
    u64 recoded[recoded_words];
    digits.recode(chosen.w, recoded);
    int window = (int)blockIdx.y, digit = digits.digit(recoded, window);
    if (digit == 0) return;
    sign = digit < 0 ? sign_bit : 0;
    u32 magnitude = (u32)(digit < 0 ? -digit : digit);
    bucket = (u32)window % sets * (u32)digits.buckets() + magnitude - 1;
  }
};

// Adds the number of lanes with the same bucket to its counter, once for all of them; the place of this lane.
CUZK_HD u32 take_place(u32* counters, u32 bucket) {
  u32 lane = threadIdx.x % 32, place = 0;
  u32 same = __match_any_sync(all_lanes, bucket);
  int leader = __ffs((int)same) - 1;
  if ((int)lane == leader && bucket != no_bucket) place = atomicAdd(counters + bucket, (u32)__popc(same));
  place = __shfl_sync(all_lanes, place, leader);
  return place + (u32)__popc(same & ((1u << lane) - 1));
}

// Exclusive sums of one value a thread, and the sum of all in `total`; `sums` is shared room for the block.
CUZK_HD u32 scan_block(u32 value, u32* sums, u32& total) {
  u32 self = threadIdx.x;
  sums[self] = value;
  __syncthreads();
  for (u32 distance = 1; distance < blockDim.x; distance *= 2) {
    u32 before = self >= distance ? sums[self - distance] : 0;
    __syncthreads();
    sums[self] += before;
    __syncthreads();
  }
  total = sums[blockDim.x - 1];
  u32 exclusive = sums[self] - value;
  __syncthreads();
  return exclusive;
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

CUZK_KERNEL(256)
count_digits(const scalar* scalars, const u32* selection, u64 n, const recoding* digits, u32 sets,
             u32* counts) {
  placed_digit digit(scalars, selection, n, *digits, sets);
  take_place(counts, digit.bucket);
}

CUZK_KERNEL(256)
scatter_digits(const scalar* scalars, const u32* selection, u64 n, const recoding* digits, u32 sets,
               u64 stride, u32* cursors, entry* entries) {
  placed_digit digit(scalars, selection, n, *digits, sets);
  u32 place = take_place(cursors, digit.bucket);
  if (digit.bucket == no_bucket) return;
  u64 point = blockIdx.y / sets * stride + digit.index;
  entries[place] = {digit.bucket, (u32)point | digit.sign};
}

CUZK_KERNEL(256) scan_tiles(u32* values, u64 n, u32* totals) {
  u64 begin = ((u64)blockIdx.x * scan_threads + threadIdx.x) * scan_each;
  u32 sum = 0, total, own[scan_each];
  CUZK_UNROLL for (u32 i = 0; i < scan_each; i++) {
    own[i] = begin + i < n ? values[begin + i] : 0;
    sum += own[i];
  }
  u32 before = scan_block(sum, shared_memory<u32>(), total);
  CUZK_UNROLL for (u32 i = 0; i < scan_each; i++) {
    if (begin + i < n) values[begin + i] = before;
    before += own[i];
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

CUZK_KERNEL(256) scan_totals(u32* totals, u64 n) {
  u32 carried = 0;
  for (u64 begin = 0; begin < n; begin += scan_threads) {
    u64 i = begin + threadIdx.x;
    u32 total, exclusive = scan_block(i < n ? totals[i] : 0, shared_memory<u32>(), total);
    if (i < n) totals[i] = carried + exclusive;
    carried += total;
  }
}

CUZK_KERNEL(256) add_totals(u32* values, u64 n, const u32* totals) {
  u64 begin = ((u64)blockIdx.x * scan_threads + threadIdx.x) * scan_each;
  u32 total = totals[blockIdx.x];
  CUZK_UNROLL for (u32 i = 0; i < scan_each; i++) {
    if (begin + i < n) values[begin + i] += total;
  }
}

CUZK_ENTRY(count_digits)
CUZK_ENTRY(scatter_digits)
CUZK_ENTRY(scan_tiles)
CUZK_ENTRY(scan_totals)
CUZK_ENTRY(add_totals)
