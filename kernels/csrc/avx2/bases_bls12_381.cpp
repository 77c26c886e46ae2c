#include "packed_bases.hpp"

namespace cuzk::avx2 {

std::unique_ptr<window_bases> load_bls12_381(group_id group, point_arrays arrays, int threads, arena* memory,
                                             const array_release& release) {
  if (group == group_id::g1)
    return std::make_unique<packed_bases<bls12_381, 1>>(arrays, threads, memory, release);
  return std::make_unique<packed_bases<bls12_381, 2>>(arrays, threads, memory, release);
}

}  // namespace cuzk::avx2
