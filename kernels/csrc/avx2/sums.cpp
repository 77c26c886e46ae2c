// Sums over points that are used once: each array is converted into scratch memory, and arrays with the same
// points at infinity share their scalars' digits.
#include "coordinates.hpp"
#include "factories.hpp"

namespace cuzk::avx2 {

void add_up(curve_id curve, std::span<const point_sum> sums, const u64* scalars, int threads,
            const array_release& release) {
  const auto& costs =
      curve == curve_id::bn254 ? coordinates_of<bn254, 1>::costs : coordinates_of<bls12_381, 1>::costs;
  std::vector<bool> infinite;
  std::unique_ptr<prepared_scalars> prepared;
  for (const point_sum& sum : sums) {
    arena_lease lease;
    arena::scope scope(*lease);
    const auto bases = load_points(curve, sum.group, sum.arrays, threads, &*lease, release);
    if (!prepared || infinite != bases->infinite()) {
      infinite = bases->infinite();
      prepared.reset();
      prepared = std::make_unique<prepared_scalars>(scalars, bases->size(), infinite, costs, threads);
    }
    bases->multiply_prepared(*prepared, scalars, sum.out, threads);
  }
}

}  // namespace cuzk::avx2
