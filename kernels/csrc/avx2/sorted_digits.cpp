#include "sorted_digits.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "threads.hpp"

namespace cuzk::avx2 {

namespace {

// Counting sort of one window; `place` is scratch, one word a bucket.
void sort_window(const selection& selected, const std::int16_t* negatives, std::size_t length, int buckets,
                 std::uint32_t* order, std::uint32_t* counts, std::uint32_t* place) {
  std::fill(counts, counts + buckets, 0);
  for (std::size_t e = 0; e < length; e++) {
    const int bucket = std::abs(int{negatives[e]}) - 1;
    if (bucket >= 0) counts[bucket]++;
  }
  std::exclusive_scan(counts, counts + buckets, place, std::uint32_t{0});
  for (std::size_t e = 0; e < length; e++) {
    const int bucket = std::abs(int{negatives[e]}) - 1;
    if (bucket >= 0) order[place[bucket]++] = selected.entries[e] << 1 | (negatives[e] > 0);
  }
}

}  // namespace

sorted_digits::sorted_digits(const selection& selected, const u64* scalars, int window, arena& memory,
                             int threads)
    : window_(window),
      windows_(selected.entry_count() == 0 ? 0 : windows_for(selected.bits, window)),
      stride_(selected.entry_count() + 48),
      orders_(memory.take<std::uint32_t>(windows_ * stride_)),
      counts_(memory.take<std::uint32_t>(std::size_t(windows_) * buckets())) {
  arena::scope scope(memory);
  const digit_rows digits(selected, scalars, window, memory, threads);
  parallel_tasks(threads, windows_, [&](std::size_t task) {
    const int w = int(task);
    arena_lease lease(arena_use::scratch);
    arena::scope scratch(*lease);
    auto* place = (*lease).take<std::uint32_t>(buckets());
    sort_window(selected, digits.negatives(w), digits.length(w), buckets(), orders_ + w * stride_,
                counts_ + std::size_t(w) * buckets(), place);
  });
}

sorted_digits::place_of_cut sorted_digits::cut(int w, std::size_t part, std::size_t parts) const {
  const std::uint32_t* count = counts(w);
  const std::size_t total = std::accumulate(count, count + buckets(), std::size_t{0});
  if (part == parts) return {buckets(), total};
  place_of_cut at{0, 0};
  while (at.place < total * part / parts) at.place += count[at.bucket++];
  return at;
}

}  // namespace cuzk::avx2
