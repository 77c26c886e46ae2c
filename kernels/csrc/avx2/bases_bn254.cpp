#include "packed_bases.hpp"

namespace cuzk::avx2 {

std::unique_ptr<window_bases> load_bn254(group_id group, point_arrays arrays, int threads, arena* memory,
                                         const array_release& release) {
  if (group == group_id::g1)
    return std::make_unique<packed_bases<bn254, 1>>(arrays, threads, memory, release);
  return std::make_unique<packed_bases<bn254, 2>>(arrays, threads, memory, release);
}

}  // namespace cuzk::avx2
