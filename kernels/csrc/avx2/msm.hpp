// Multi-scalar multiplication: signed-digit buckets summed in affine coordinates.
//
// The scalars are cut into windows of c bits. In each window the points are sorted by digit, the lists are
// summed pairwise, and the bucket sums are weighted by their digits; scalars 0 and 1 are set aside. Ranges of
// buckets are the tasks of the threads.
#pragma once
#include <vector>

#include "buckets.hpp"
#include "prepared_scalars.hpp"
#include "threads.hpp"

namespace cuzk::avx2 {

// A point of the packed form in scalar arithmetic.
template <class C>
affine<typename C::scalar> to_scalar(const u64* packed) {
  using F = typename C::field;
  using scalar = fe<typename F::scalar>;
  u64 words[point_words<C>];
  for (int i = 0; i < point_words<C>; i += F::words)
    (reduce_once<typename F::scalar>(packed + i) * scalar::load(F::leave)).store(words + i);
  return affine<typename C::scalar>::load(words);
}

// One multiplication: what its tasks share.
template <class C>
class bucket_method {
  using scalar_sum = xyzz<typename C::scalar>;
  static constexpr int PW = point_words<C>;

  const u64* points_;
  const selection& selected_;
  const sorted_digits& digits_;
  const int threads_, sets_, buckets_, segments_;
  const std::size_t lists_;  // pieces of the points with scalar 1
  u64 *sums_, *list_sums_, *plain_, *weighted_;

 public:
  bucket_method(const u64* points, const prepared_scalars& scalars, arena& memory, int threads)
      : points_(points),
        selected_(scalars.selected),
        digits_(scalars.digits),
        threads_(std::max(threads, 1)),
        sets_(digits_.sets()),
        buckets_(digits_.buckets()),
        segments_(sets_ == 0 ? 0 : segments_of(buckets_, sets_, threads_)),
        lists_((selected_.one_count + bucket_filler<C>::list_points - 1) / bucket_filler<C>::list_points),
        sums_(memory.take<u64>(std::size_t(sets_) * buckets_ * PW)),
        list_sums_(memory.take<u64>(lists_ * PW)),
        plain_(memory.take<u64>(std::size_t(sets_) * segments_ * PW)),
        weighted_(memory.take<u64>(std::size_t(sets_) * segments_ * PW)) {}

  scalar_sum run() {
    fill_buckets();
    weigh_buckets();
    scalar_sum total = join_sets();
    for (std::size_t i = 0; i < lists_; i++) total = add(total, to_scalar<C>(list_sums_ + i * PW));
    return total;
  }

 private:
  // Each set in parts of a few chunks, so that all threads finish together.
  void fill_buckets() {
    constexpr std::size_t most_parts = 8;
    const std::size_t parts =
        std::clamp<std::size_t>(digits_.longest() / (2 * bucket_filler<C>::chunk_points), 1, most_parts);
    const std::size_t set_tasks = sets_ * parts;
    parallel_tasks(threads_, set_tasks + lists_, [&](std::size_t task) {
      arena_lease lease(arena_use::scratch);
      arena::scope scope(*lease);
      bucket_filler<C> filler(*lease, points_);
      if (task >= set_tasks) {
        sum_list(filler, task - set_tasks);
      } else {
        fill_part(filler, int(task / parts), task % parts, parts);
      }
    });
  }
  void fill_part(bucket_filler<C>& filler, int set, std::size_t part, std::size_t parts) {
    const auto from = digits_.cut(set, part, parts), to = digits_.cut(set, part + 1, parts);
    filler.fill(digits_.order(set) + from.place, digits_.counts(set), from.bucket, to.bucket,
                sums_ + std::size_t(set) * buckets_ * PW);
  }
  void sum_list(bucket_filler<C>& filler, std::size_t list) {
    const std::size_t from = selected_.one_count * list / lists_,
                      to = selected_.one_count * (list + 1) / lists_;
    filler.sum_list(selected_.ones + from, to - from, list_sums_ + list * PW);
  }

  void weigh_buckets() {
    const std::size_t chains = std::size_t(sets_) * segments_;
    const std::size_t pieces = std::min<std::size_t>(threads_, chains);
    parallel_tasks(threads_, pieces, [&](std::size_t piece) {
      arena_lease lease(arena_use::scratch);
      arena::scope scope(*lease);
      bucket_weigher<C>(*lease).weigh(sums_, buckets_ / segments_, chains * piece / pieces,
                                      chains * (piece + 1) / pieces, plain_, weighted_);
    });
  }

  // sum of the weighted sums + length times the sum of s plain_s
  scalar_sum join_segments(int set) const {
    const u64 *plain = plain_ + std::size_t(set) * segments_ * PW,
              *weighted = weighted_ + std::size_t(set) * segments_ * PW;
    scalar_sum above = scalar_sum::infinity(), total = scalar_sum::infinity();
    for (int s = segments_ - 1; s > 0; s--) {
      above = add(above, to_scalar<C>(plain + std::size_t(s) * PW));
      total = add(total, above);
    }
    for (int length = buckets_ / segments_; length > 1; length /= 2) total = double_point(total);
    for (int s = 0; s < segments_; s++) total = add(total, to_scalar<C>(weighted + std::size_t(s) * PW));
    return total;
  }
  scalar_sum join_sets() const {
    std::vector<scalar_sum> sums(sets_);
    parallel_tasks(threads_, sets_, [&](std::size_t set) { sums[set] = join_segments(int(set)); });
    scalar_sum total = scalar_sum::infinity();
    for (int set = sets_ - 1; set >= 0; set--) {
      for (int k = 0; k < digits_.window(); k++) total = double_point(total);
      total = add(total, sums[set]);
    }
    return total;
  }
};

}  // namespace cuzk::avx2
