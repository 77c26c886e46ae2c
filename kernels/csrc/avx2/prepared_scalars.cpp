#include "prepared_scalars.hpp"

#include <algorithm>

namespace cuzk::avx2 {

namespace {

struct workload {
  std::size_t long_count, short_count;
  int bits;
};

// In ns, for windows of c bits; sets: 0 where there are no multiples.
double expected_cost(const workload& work, int c, int sets, const addition_costs& cost, int threads) {
  const int windows = windows_for(work.bits, c), short_windows = std::min(windows, windows_for(64, c));
  const int used = sets == 0 ? windows : std::min(sets, windows);
  const double buckets = 1 << (c - 1), segments = segments_of(1 << (c - 1), used, threads);
  const double digits =
      double(windows) * double(work.long_count) + double(short_windows) * double(work.short_count);
  return digits * (cost.addition + cost.sorting) + used * 2 * buckets * cost.addition +
         used * 3 * segments * cost.scalar_addition;
}

digit_shape choose_shape(const selection& selected, std::size_t n, const addition_costs& cost,
                         const multiples& table, int threads) {
  const workload work{selected.long_count, selected.short_count, selected.bits};
  digit_shape best{2};
  double least = expected_cost(work, 2, 0, cost, threads);
  for (int c = 3; c <= digit_rows::largest_window; c++) {
    const double total = expected_cost(work, c, 0, cost, threads);
    if (total >= least) continue;
    best = {c};
    least = total;
  }
  if (table.rows > 1 && expected_cost(work, table.window, table.sets, cost, threads) < least)
    best = {table.window, table.sets, n};
  return best;
}

}  // namespace

multiples choose_multiples(int scalar_bits, std::size_t n, int rows, const addition_costs& cost) {
  multiples best;
  double least = 0;
  for (int c = 2; c <= digit_rows::largest_window; c++) {
    const int sets = (windows_for(scalar_bits, c) + rows - 1) / rows;
    const double total = expected_cost({n, 0, scalar_bits}, c, sets, cost, 1);
    if (best.window != 0 && total >= least) continue;
    best = {c, sets, rows};
    least = total;
  }
  return best;
}

int segments_of(int buckets, int sets, int threads) {
  int wanted = 64;
  while (wanted * sets < 512 * threads) wanted *= 2;
  return std::min(buckets, wanted);
}

prepared_scalars::prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite,
                                   int window, int threads)
    : selected(select_scalars(scalars, n, infinite, *lease_, threads)),
      digits(selected, scalars, {window}, *lease_, threads) {}

prepared_scalars::prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite,
                                   const addition_costs& costs, const multiples& table, int threads)
    : selected(select_scalars(scalars, n, infinite, *lease_, threads)),
      digits(selected, scalars, choose_shape(selected, infinite.size(), costs, table, threads), *lease_,
             threads) {}

}  // namespace cuzk::avx2
