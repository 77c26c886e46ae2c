#include "prepared_scalars.hpp"

#include <algorithm>

namespace cuzk::avx2 {

namespace {

int choose_window(const selection& selected, const addition_costs& cost, int threads) {
  int best = 2;
  double least = 0;
  for (int c = 2; c <= digit_rows::largest_window; c++) {
    const int windows = windows_for(selected.bits, c), short_windows = std::min(windows, windows_for(64, c));
    const double buckets = 1 << (c - 1), segments = segments_of(1 << (c - 1), windows, threads);
    const double digits =
        double(windows) * double(selected.long_count) + double(short_windows) * double(selected.short_count);
    const double total = digits * (cost.addition + cost.sorting) + windows * 2 * buckets * cost.addition +
                         windows * 3 * segments * cost.scalar_addition;
    if (c == 2 || total < least) {
      best = c;
      least = total;
    }
  }
  return best;
}

}  // namespace

int segments_of(int buckets, int windows, int threads) {
  int wanted = 64;
  while (wanted * windows < 512 * threads) wanted *= 2;
  return std::min(buckets, wanted);
}

prepared_scalars::prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite,
                                   int window, int threads)
    : selected(select_scalars(scalars, n, infinite, *lease_, threads)),
      digits(selected, scalars, window, *lease_, threads) {}

prepared_scalars::prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite,
                                   const addition_costs& costs, int threads)
    : selected(select_scalars(scalars, n, infinite, *lease_, threads)),
      digits(selected, scalars, choose_window(selected, costs, threads), *lease_, threads) {}

}  // namespace cuzk::avx2
