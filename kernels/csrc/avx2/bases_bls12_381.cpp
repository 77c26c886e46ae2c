#include "packed_bases.hpp"

namespace cuzk::avx2 {

std::unique_ptr<window_bases> load_bls12_381(group_id group, point_arrays arrays, int threads, arena* memory,
                                             const array_release& release) {
  if (group == group_id::g1)
    return std::make_unique<packed_bases<bls12_381, 1>>(arrays, threads, memory, release);
  return std::make_unique<packed_bases<bls12_381, 2>>(arrays, threads, memory, release);
}

void build_table_bls12_381(group_id group, point_arrays arrays, const multiples& wanted, u64* out,
                           int threads) {
  if (group == group_id::g1) return packed_bases<bls12_381, 1>::build_table(arrays, wanted, out, threads);
  packed_bases<bls12_381, 2>::build_table(arrays, wanted, out, threads);
}

std::unique_ptr<window_bases> open_table_bls12_381(group_id group, const u64* table, std::size_t n,
                                                   const multiples& given) {
  if (group == group_id::g1) return std::make_unique<packed_bases<bls12_381, 1>>(table, n, given);
  return std::make_unique<packed_bases<bls12_381, 2>>(table, n, given);
}

}  // namespace cuzk::avx2
