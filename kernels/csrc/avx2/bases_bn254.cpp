#include "packed_bases.hpp"

namespace cuzk::avx2 {

std::unique_ptr<window_bases> load_bn254(group_id group, const std::uint8_t* points, std::size_t n,
                                         int threads, arena* memory) {
  if (group == group_id::g1) return std::make_unique<packed_bases<bn254, 1>>(points, n, threads, memory);
  return std::make_unique<packed_bases<bn254, 2>>(points, n, threads, memory);
}

}  // namespace cuzk::avx2
