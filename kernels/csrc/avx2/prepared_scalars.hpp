// What a multi-scalar multiplication does with its scalars alone, before any point is added.
#pragma once
#include "engine.hpp"
#include "sorted_digits.hpp"

namespace cuzk::avx2 {

// What the parts of a sum cost, in ns. Only the ratios count.
struct addition_costs {
  double addition;         // in a batch
  double sorting;          // of one digit
  double scalar_addition;  // in XYZZ coordinates
};

// The multiples with which the least work is expected for n long scalars and so many rows.
multiples choose_multiples(int scalar_bits, std::size_t n, int rows, const addition_costs&);

// Segments of buckets that are weighed in step: enough chains for full vectors and batches in every thread.
int segments_of(int buckets, int sets, int threads);

// Selected, cut into digits and sorted, for all bases with the same points at infinity.
class prepared_scalars {
  arena_lease lease_;
  arena::scope scope_{*lease_};

 public:
  const selection selected;
  const sorted_digits digits;

  // infinite: which points are infinity.
  prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite, int window,
                   int threads);
  // With the window for which the least work is expected, or with the multiples where they promise less.
  prepared_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite,
                   const addition_costs&, const multiples&, int threads);
};

}  // namespace cuzk::avx2
