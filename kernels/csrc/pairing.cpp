// Pairings of points in arrays.
#include "pairing.hpp"

#include "abi.hpp"

namespace cuzk {
namespace {

template <class C>
std::vector<miller_pair<C>> load_pairs(const std::uint8_t* g1, const std::uint8_t* g2, std::size_t n) {
  std::vector<miller_pair<C>> pairs(n);
  if (n == 0) return pairs;
  for (std::size_t i = 0; i < n; i++) {
    std::memcpy(static_cast<void*>(&pairs[i].p), g1 + i * sizeof pairs[i].p, sizeof pairs[i].p);
    std::memcpy(static_cast<void*>(&pairs[i].q), g2 + i * sizeof pairs[i].q, sizeof pairs[i].q);
  }
  return pairs;
}

template <class C>
std::size_t find_bad_pair(const std::uint8_t* g1, const std::uint8_t* g2, std::size_t n) {
  using G1 = group_of<C, 1>;
  using G2 = group_of<C, 2>;
  for (std::size_t i = 0; i < n; i++) {
    if (!is_good_point<G1>(g1 + i * sizeof(typename G1::point), checks::subgroup)) return i;
    if (!is_good_point<G2>(g2 + i * sizeof(typename G2::point), checks::subgroup)) return i;
  }
  return n;
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

// out: the product of e(g1[i], g2[i]) (for BLS12-381: its cube), 12 elements of Fq in Montgomery form: c0
// then c1 over Fq6, there c0, c1, c2 over Fq2, there c0, c1. is_one: whether it is one. bad_pair: the least
// index of a pair with a point off its curve or subgroup, or n; nothing else is written when there is one.
CUZK_EXPORT int cuzk_pairing_product(int curve, const std::uint8_t* g1, const std::uint8_t* g2, std::size_t n,
                                     u64* out, int* is_one, std::size_t* bad_pair) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() {
      *bad_pair = find_bad_pair<C>(g1, g2, n);
      if (*bad_pair != n) return;
      fe12<C> product = pairing_product<C>(load_pairs<C>(g1, g2, n));
      *is_one = product == fe12<C>::one();
      static_assert(sizeof product == 12 * sizeof(fe<typename C::fq>));
      std::memcpy(out, &product, sizeof product);
    });
  });
}
