// Bucket sums of one group: multi-scalar multiplication from sorted entries; see cuda/README.md.
//
// The formulas are curve.hpp's. In the inner loop of the mixed additions they are laid out over the field
// itself; everywhere else over coordinates whose products are calls, which keeps the program small and its
// registers few.
#include "cuda/called.cuh"
#include "curve.hpp"

namespace cuzk {
namespace {

using group = group_of<CUZK_CURVE, CUZK_GROUP>;
using coordinate = group::coordinate;
using called_point = affine<called<coordinate>>;
using called_sum = xyzz<called<coordinate>>;

// Fq2 over 381 bits has too many registers for a whole addition in one piece.
template <class E, bool laid_out>
struct inner {
  using type = E;
};
template <class E>
struct inner<E, false> {
  using type = called<E>;
};
constexpr bool laid_out = sizeof(coordinate) < 96;
using inner_coordinate = inner<coordinate, laid_out>::type;
using point = affine<inner_coordinate>;
using sum = xyzz<inner_coordinate>;

// How many blocks of 128 threads shall fit a multiprocessor: as many as the registers allow with little or no
// spilling.
constexpr int resident = sizeof(coordinate) == 32 ? 4 : sizeof(coordinate) == 48 ? 3 : 2;

constexpr u32 no_bucket = 0xffffffffu, sign_bit = 0x80000000u;
constexpr u32 points_each = 4;

struct alignas(8) entry {
  u32 bucket, point;
};

struct pair {
  called_sum plain, weighted;  // of some neighbouring buckets b_0, b_1, ..: all b_i, and all (i + 1) b_i
};

CUZK_HD u64 thread_of_grid() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

CUZK_CALL void accumulate(called_sum& total, const called_sum& p) { total = add(total, p); }

CUZK_HD void double_times(called_sum& p, u32 times) {
  CUZK_NO_UNROLL for (u32 i = 0; i < times; i++) p = double_point(p);
}

// The sums of the buckets whose first element is in this thread's range go to the buckets themselves; what
// continues a bucket of an earlier range is this thread's partial sum.
template <class sum>
class range_sum {
 public:
  CUZK_HD range_sum(sum* buckets, sum* partial, u32* partial_bucket)
      : buckets(buckets),
        partial(partial),
        partial_bucket(partial_bucket),
        bucket(no_bucket),
        continues(false) {
    *partial_bucket = no_bucket;
  }

  CUZK_HD void enter(u32 next, bool continued) {
    bucket = next;
    continues = continued;
    total = continued || next == no_bucket ? sum::infinity() : buckets[next];
  }
  CUZK_HD void leave() {
    if (bucket == no_bucket) return;
    if (continues) {
      *partial = total;
      *partial_bucket = bucket;
    } else {
      buckets[bucket] = total;
    }
  }
  CUZK_HD void move_to(u32 next) {
    if (next == bucket) return;
    leave();
    enter(next, false);
  }

  sum total;

 private:
  sum *buckets, *partial;
  u32 *partial_bucket, bucket;
  bool continues;
};

CUZK_HD point signed_point(const point* points, entry e) {
  point p = points[e.point & ~sign_bit];
  return e.point & sign_bit ? negate(p) : p;
}

}  // namespace

// What a mixed addition of equal points comes to, found by its formula: too rare to be laid out in the inner
// loop.
[[maybe_unused]] CUZK_CALL static xyzz<coordinate> double_point(const affine<coordinate>& p) {
  called_sum d = double_point(called_point{{p.x}, {p.y}});
  return {d.x.e, d.y.e, d.zz.e, d.zzz.e};
}

}  // namespace cuzk

using namespace cuzk;

CUZK_KERNEL(128, resident)
accumulate_entries(const point* points, const entry* entries, const u32* entry_count, u32 least_span,
                   sum* buckets, sum* partials, u32* partial_buckets) {
  u32 self = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, count = *entry_count;
  u32 span = count / threads + 1;
  if (span < least_span) span = least_span;
  range_sum<sum> range(buckets, partials + self, partial_buckets + self);
  u64 first = (u64)self * span;
  if (first >= count) return;
  u32 begin = (u32)first, end = count - begin < span ? count : begin + span;
  entry next = entries[begin];
  range.enter(next.bucket, begin != 0 && entries[begin - 1].bucket == next.bucket);
  CUZK_NO_UNROLL for (u32 i = begin; i < end; i++) {
    entry e = next;
    if (i + 1 < end) {
      next = entries[i + 1];
      prefetch(points + (next.point & ~sign_bit));
    }
    range.move_to(e.bucket);
    range.total = add(range.total, signed_point(points, e));
  }
  range.leave();
}

CUZK_KERNEL(128)
accumulate_partials(const called_sum* partials, const u32* partial_buckets, u32 count, u32 span,
                    called_sum* buckets, called_sum* next_partials, u32* next_buckets) {
  u64 self = thread_of_grid(), begin = self * span, end = begin + span < count ? begin + span : count;
  if (begin >= end) return;
  range_sum<called_sum> range(buckets, next_partials + self, next_buckets + self);
  u32 first = partial_buckets[begin];
  range.enter(first, begin != 0 && partial_buckets[begin - 1] == first && first != no_bucket);
  CUZK_NO_UNROLL for (u64 i = begin; i < end; i++) {
    u32 bucket = partial_buckets[i];
    range.move_to(bucket);
    if (bucket != no_bucket) accumulate(range.total, partials[i]);
  }
  range.leave();
}

CUZK_KERNEL(128) reduce_buckets(const called_sum* buckets, u64 outputs, u32 log_span, pair* pairs) {
  u64 self = thread_of_grid();
  if (self >= outputs) return;
  called_sum running = called_sum::infinity(), weighted = called_sum::infinity();
  CUZK_NO_UNROLL for (u32 i = 1u << log_span; i-- > 0;) {
    accumulate(running, buckets[(self << log_span) + i]);
    accumulate(weighted, running);
  }
  pairs[self] = {running, weighted};
}

// With n buckets a pair: b of pair k has n k more weight than in the pair, so that the sum of k plain_k
// counts n times.
CUZK_KERNEL(128) merge_pairs(const pair* pairs, u64 outputs, u32 log_span, u32 log_size, pair* merged) {
  u64 self = thread_of_grid();
  if (self >= outputs) return;
  const pair* own = pairs + (self << log_span);
  called_sum running = called_sum::infinity(), skipped = called_sum::infinity(),
             weighted = called_sum::infinity();
  CUZK_NO_UNROLL for (u32 k = 1u << log_span; k-- > 0;) {
    accumulate(running, own[k].plain);
    accumulate(weighted, own[k].weighted);
    if (k != 0) accumulate(skipped, running);
  }
  double_times(skipped, log_size);
  accumulate(weighted, skipped);
  merged[self] = {running, weighted};
}

// The same for all pairs of a set, by all threads of a block.
CUZK_KERNEL(128) finish_sets(const pair* pairs, u32 count, u32 log_size, called_sum* sums) {
  called_sum* shared = shared_memory<called_sum>();
  u32 self = threadIdx.x;
  const pair* own = pairs + (u64)blockIdx.x * count + self;
  called_sum suffix =
      self < count ? own->plain : called_sum::infinity();  // becomes the sum of plain_k, k >= self
  for (u32 distance = 1; distance < count; distance *= 2) {
    shared[self] = suffix;
    __syncthreads();
    if (self + distance < count) accumulate(suffix, shared[self + distance]);
    __syncthreads();
  }
  called_sum total = self == 0 || self >= count ? called_sum::infinity() : suffix;
  double_times(total, log_size);
  if (self < count) accumulate(total, own->weighted);
  for (u32 half = blockDim.x / 2; half != 0; half /= 2) {
    if (self < 2 * half) shared[self] = total;
    __syncthreads();
    if (self < half) accumulate(total, shared[self + half]);
  }
  if (self == 0) sums[blockIdx.x] = total;
}

// One inversion for all points of a thread, which lie a grid apart.
CUZK_KERNEL(128) double_points(const called_point* points, u64 n, u32 doublings, called_point* out) {
  u64 self = thread_of_grid(), threads = (u64)gridDim.x * blockDim.x;
  if (self >= n) return;
  called_sum doubled[points_each];
  called_point lowered[points_each];
  called<coordinate> products[points_each];
  for (u32 i = 0; i < points_each; i++) {
    u64 at = self + i * threads;
    doubled[i] = at < n ? lift(points[at]) : called_sum::infinity();
    double_times(doubled[i], doublings);
  }
  to_affine(doubled, points_each, lowered, products);
  for (u32 i = 0; i < points_each; i++) {
    if (self + i * threads < n) out[self + i * threads] = lowered[i];
  }
}

CUZK_ENTRY(accumulate_entries)
CUZK_ENTRY(accumulate_partials)
CUZK_ENTRY(reduce_buckets)
CUZK_ENTRY(merge_pairs)
CUZK_ENTRY(finish_sets)
CUZK_ENTRY(double_points)
