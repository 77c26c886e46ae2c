// Sums over points that are used once: each array is converted into scratch memory, and arrays with the same
// points at infinity share their scalars' digits.
#include "coordinates.hpp"
#include "factories.hpp"

namespace cuzk::avx2 {

void add_up(curve_id curve, const point_sum* sums, std::size_t count, const u64* scalars, std::size_t n,
            int threads) {
  const auto& costs =
      curve == curve_id::bn254 ? coordinates_of<bn254, 1>::costs : coordinates_of<bls12_381, 1>::costs;
  std::vector<bool> infinite;
  std::unique_ptr<prepared_scalars> prepared;
  for (std::size_t k = 0; k < count; k++) {
    arena_lease lease;
    arena::scope scope(*lease);
    const auto load = curve == curve_id::bn254 ? load_bn254 : load_bls12_381;
    const auto bases = load(sums[k].group, sums[k].points, n, threads, &*lease);
    if (!prepared || infinite != bases->infinite()) {
      infinite = bases->infinite();
      prepared.reset();
      prepared = std::make_unique<prepared_scalars>(scalars, n, infinite, costs, threads);
    }
    bases->multiply_prepared(*prepared, scalars, sums[k].out, threads);
  }
}

}  // namespace cuzk::avx2
