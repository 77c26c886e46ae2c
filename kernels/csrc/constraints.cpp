// The evaluations of the A and B polynomials of a constraint system on a witness.
#include <atomic>
#include <cstring>

#include "abi.hpp"
#include "threads.hpp"

namespace cuzk {
namespace {

// A record of section 4 of a zkey: u32 matrix, u32 row, u32 wire, then the coefficient times R^2 in Fr.
struct record {
  static constexpr std::size_t size = 12 + 32;
  std::uint32_t matrix, row, wire;

  explicit record(const std::uint8_t* bytes) {
    std::memcpy(&matrix, bytes, 4);
    std::memcpy(&row, bytes + 4, 4);
    std::memcpy(&wire, bytes + 8, 4);
  }
};

std::size_t find_bad_record(const std::uint8_t* records, std::size_t count, std::size_t wires,
                            std::size_t domain, int threads) {
  std::atomic<std::size_t> first{count};
  parallel_ranges(threads, count, 1 << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) {
      record r(records + i * record::size);
      if (r.matrix <= 1 && r.row < domain && r.wire < wires) continue;
      std::size_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return first;
}

// Each thread goes over all records and keeps those of its own rows: no two threads write one row, and the
// order of additions does not depend on the threads.
template <class F>
void evaluate_rows(const std::uint8_t* records, std::size_t count, const u64* witness,
                   fe<F>* const (&sums)[2], std::size_t first_row, std::size_t end_row) {
  for (std::size_t i = 0; i < count; i++) {
    const std::uint8_t* bytes = records + i * record::size;
    record r(bytes);
    if (r.row < first_row || r.row >= end_row) continue;
    auto value = fe<F>::load(witness + std::size_t(r.wire) * F::words);
    if (value.is_zero()) continue;
    u64 words[F::words];
    std::memcpy(words, bytes + 12, sizeof words);
    fe<F>& sum = sums[r.matrix][r.row];
    sum = sum + fe<F>::load(words) * value;  // (v R^2) w / R = (v w) R
  }
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

// records: count x 44 bytes, unaligned; witness: wires x 4 plain words; a, b: domain x 4 words, Montgomery.
// bad_record: the least index of a record that points outside of the matrices, or count; a and b are written
// only when there is none.
CUZK_EXPORT int cuzk_constraints_evaluate(int curve, const std::uint8_t* records, std::size_t count,
                                          const u64* witness, std::size_t wires, std::size_t domain, u64* a,
                                          u64* b, int threads, std::size_t* bad_record) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() {
      using F = typename C::fr;
      *bad_record = find_bad_record(records, count, wires, domain, threads);
      if (*bad_record != count) return;
      fe<F>* const sums[2] = {reinterpret_cast<fe<F>*>(a), reinterpret_cast<fe<F>*>(b)};
      std::memset(a, 0, domain * sizeof(fe<F>));
      std::memset(b, 0, domain * sizeof(fe<F>));
      std::size_t pieces = std::max(threads, 1);
      parallel_tasks(threads, pieces, [&](std::size_t i) {
        evaluate_rows<F>(records, count, witness, sums, domain * i / pieces, domain * (i + 1) / pieces);
      });
    });
  });
}
