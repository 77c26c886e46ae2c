#include "packed_bases.hpp"

namespace cuzk::avx2 {

std::unique_ptr<window_bases> load_bls12_381(group_id group, const std::uint8_t* points, std::size_t n,
                                             int threads, arena* memory) {
  if (group == group_id::g1) return std::make_unique<packed_bases<bls12_381, 1>>(points, n, threads, memory);
  return std::make_unique<packed_bases<bls12_381, 2>>(points, n, threads, memory);
}

}  // namespace cuzk::avx2
