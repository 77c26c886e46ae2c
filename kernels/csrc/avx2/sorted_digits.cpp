#include "sorted_digits.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "threads.hpp"

namespace cuzk::avx2 {

namespace {

// The digits of one bucket set: those of some windows, each with its row of multiples.
struct digit_set {
  const selection& selected;
  const digit_rows& digits;
  int first_window, step;
  std::size_t points;

  // Calls visit(bucket, place of the point, sign) for every digit that is not zero.
  template <class Visit>
  void visit(const Visit& visit) const {
    std::size_t start = 0;
    for (int w = first_window; w < digits.windows(); w += step, start += points) {
      const std::int16_t* negatives = digits.negatives(w);
      const std::size_t length = digits.length(w);
      for (std::size_t e = 0; e < length; e++) {
        const int negative = negatives[e];
        if (negative != 0) visit(std::abs(negative) - 1, selected.entries[e] + start, negative > 0);
      }
    }
  }
};

// Counting sort; `place` is scratch, one word a bucket.
void sort_set(const digit_set& set, int buckets, std::uint32_t* order, std::uint32_t* counts,
              std::uint32_t* place) {
  std::fill(counts, counts + buckets, 0);
  set.visit([&](int bucket, std::size_t, bool) { counts[bucket]++; });
  std::exclusive_scan(counts, counts + buckets, place, std::uint32_t{0});
  set.visit([&](int bucket, std::size_t point, bool negative) {
    order[place[bucket]++] = static_cast<std::uint32_t>(point << 1 | negative);
  });
}

int count_windows(const selection& selected, int window) {
  return selected.entry_count() == 0 ? 0 : windows_for(selected.bits, window);
}

}  // namespace

sorted_digits::sorted_digits(const selection& selected, const u64* scalars, const digit_shape& shape,
                             arena& memory, int threads)
    : window_(shape.window) {
  const int windows = count_windows(selected, window_);
  sets_ = shape.sets == 0 ? windows : std::min(shape.sets, windows);
  rows_ = sets_ == 0 ? 0 : (windows + sets_ - 1) / sets_;
  stride_ = rows_ * selected.entry_count() + spare;
  orders_ = memory.take<std::uint32_t>(sets_ * stride_);
  counts_ = memory.take<std::uint32_t>(std::size_t(sets_) * buckets());
  arena::scope scope(memory);
  const digit_rows digits(selected, scalars, window_, memory, threads);
  parallel_tasks(threads, sets_, [&](std::size_t task) {
    const int set = int(task);
    arena_lease lease(arena_use::scratch);
    arena::scope scratch(*lease);
    auto* place = (*lease).take<std::uint32_t>(buckets());
    sort_set({selected, digits, set, sets_, shape.points}, buckets(), orders_ + set * stride_,
             counts_ + std::size_t(set) * buckets(), place);
  });
}

sorted_digits::place_of_cut sorted_digits::cut(int set, std::size_t part, std::size_t parts) const {
  const std::uint32_t* count = counts(set);
  const std::size_t total = std::accumulate(count, count + buckets(), std::size_t{0});
  if (part == parts) return {buckets(), total};
  place_of_cut at{0, 0};
  while (at.place < total * part / parts) at.place += count[at.bucket++];
  return at;
}

}  // namespace cuzk::avx2
