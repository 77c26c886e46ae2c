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

template <class C>
void store(const fe12<C>& value, u64* out) {
  static_assert(sizeof value == 12 * sizeof(fe<typename C::fq>));
  std::memcpy(out, &value, sizeof value);
}

template <class C>
fe12<C> load(const u64* words) {
  fe12<C> value;
  std::memcpy(static_cast<void*>(&value), words, sizeof value);
  return value;
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
      store(product, out);
    });
  });
}

// What the Miller loop of one pair gives, as cuzk_pairing_product writes elements. Nothing is checked.
CUZK_EXPORT int cuzk_miller_loop(int curve, const std::uint8_t* g1, const std::uint8_t* g2, u64* out) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() { store(miller_loop<C>(load_pairs<C>(g1, g2, 1), {}), out); });
  });
}

// How many lines a point of G2 has.
CUZK_EXPORT int cuzk_pairing_line_count(int curve, std::size_t* count) {
  return guarded([&] { with_curve(curve_id{curve}, [&]<class C>() { *count = miller_steps<C>().size(); }); });
}

// out: the lines of a point of G2 other than infinity, of each the slope and the constant in Fq2. Nothing is
// checked.
CUZK_EXPORT int cuzk_pairing_lines(int curve, const std::uint8_t* g2, u64* out) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() {
      affine<fe2<typename C::fq>> q;
      std::memcpy(static_cast<void*>(&q), g2, sizeof q);
      const auto lines = all_lines<C>(q);
      static_assert(sizeof(line<C>) == sizeof q);
      std::memcpy(out, lines.data(), lines.size() * sizeof(line<C>));
    });
  });
}

// is_one: whether the product of the pairings of n pairs, of m points of G1 with points of G2 whose lines are
// given, and of `looped`, what the Miller loops of some others gave (or null), is one. Nothing is checked.
CUZK_EXPORT int cuzk_prepared_product(int curve, const std::uint8_t* g1, const std::uint8_t* g2,
                                      std::size_t n, const std::uint8_t* prepared_g1, const u64* const* lines,
                                      std::size_t m, const u64* looped, int* is_one) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() {
      std::vector<prepared_pair<C>> prepared(m);
      for (std::size_t i = 0; i < m; i++) {
        auto& p = prepared[i].p;
        std::memcpy(static_cast<void*>(&p), prepared_g1 + i * sizeof p, sizeof p);
        prepared[i].lines = reinterpret_cast<const line<C>*>(lines[i]);
      }
      auto others = looped == nullptr ? fe12<C>::one() : load<C>(looped);
      *is_one = pairing_product<C>(load_pairs<C>(g1, g2, n), prepared, others) == fe12<C>::one();
    });
  });
}
