// Field operations on arrays.
#include <algorithm>

#include "abi.hpp"
#include "inverse.hpp"

namespace cuzk {
namespace {

enum class operation : int {
  multiply = 0,
  add = 1,
  subtract = 2,
  invert = 3,
  to_montgomery = 4,
  from_montgomery = 5
};

template <class Work>
void with_field(curve_id curve, bool scalar_field, Work&& work) {
  with_curve(curve, [&]<class C>() {
    if (scalar_field)
      work.template operator()<typename C::fr>();
    else
      work.template operator()<typename C::fq>();
  });
}

template <class F, class Compute>
void for_each(std::size_t n, u64* out, const Compute& compute) {
  for (std::size_t i = 0; i < n; i++) compute(i * F::words).store(out + i * F::words);
}

// One inversion for each block of elements; zeros are left out.
template <class F>
void invert_all(const u64* a, std::size_t n, u64* out) {
  constexpr std::size_t block = 256;
  fe<F> products[block];
  for (std::size_t begin = 0; begin < n; begin += block) {
    std::size_t count = std::min(block, n - begin);
    auto element = [&](std::size_t i) { return fe<F>::load(a + (begin + i) * F::words); };
    fe<F> product = fe<F>::one();
    for (std::size_t i = 0; i < count; i++) {
      products[i] = product;
      if (!element(i).is_zero()) product = product * element(i);
    }
    fe<F> inverted = inverse(product);
    for (std::size_t i = count; i-- > 0;) {
      fe<F> x = element(i);
      (x.is_zero() ? x : inverted * products[i]).store(out + (begin + i) * F::words);
      if (!x.is_zero()) inverted = inverted * x;
    }
  }
}

template <class F>
void apply(operation op, const u64* a, const u64* b, std::size_t n, u64* out) {
  auto at = [](const u64* words, std::size_t i) { return fe<F>::load(words + i); };
  switch (op) {
    case operation::multiply:
      return for_each<F>(n, out, [&](std::size_t i) { return at(a, i) * at(b, i); });
    case operation::add:
      return for_each<F>(n, out, [&](std::size_t i) { return at(a, i) + at(b, i); });
    case operation::subtract:
      return for_each<F>(n, out, [&](std::size_t i) { return at(a, i) - at(b, i); });
    case operation::invert:
      return invert_all<F>(a, n, out);
    case operation::to_montgomery:
      return for_each<F>(n, out, [&](std::size_t i) { return to_montgomery(at(a, i)); });
    case operation::from_montgomery:
      return for_each<F>(n, out, [&](std::size_t i) { return from_montgomery(at(a, i)); });
  }
  throw std::invalid_argument("unknown operation");
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

// b may be null for the operations of one operand. All in Montgomery form but what to_montgomery takes and
// from_montgomery gives; the inverse of zero is zero.
CUZK_EXPORT int cuzk_field_apply(int curve, int scalar_field, int op, const u64* a, const u64* b,
                                 std::size_t n, u64* out) {
  return guarded([&] {
    with_field(curve_id{curve}, scalar_field != 0, [&]<class F>() { apply<F>(operation{op}, a, b, n, out); });
  });
}

// The least index of an element that is not below the modulus, or n.
CUZK_EXPORT int cuzk_field_check(int curve, int scalar_field, const u64* a, std::size_t n,
                                 std::size_t* first_bad) {
  return guarded([&] {
    with_field(curve_id{curve}, scalar_field != 0, [&]<class F>() {
      std::size_t i = 0;
      while (i < n && is_canonical<F>(a + i * F::words)) i++;
      *first_bad = i;
    });
  });
}
