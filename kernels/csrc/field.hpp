// Prime field elements in Montgomery form, R = 2^(64 words), one at a time.
//
// Every value is canonical: below the modulus. `F` is a field of constants.hpp.
#pragma once
#include "constants.hpp"

#ifdef CUZK_DEVICE
#include "cuda/field.cuh"
#else

namespace cuzk {

template <class F>
struct fe {
  u64 w[F::words];

  CUZK_HD static constexpr fe load(const u64* words) {
    fe r{};
    for (int i = 0; i < F::words; i++) r.w[i] = words[i];
    return r;
  }
  CUZK_HD static constexpr fe zero() { return fe{}; }
  CUZK_HD static constexpr fe one() { return load(F::one); }
  CUZK_HD static constexpr fe radix_squared() { return load(F::r2); }
  CUZK_HD static constexpr fe unit() {  // the integer 1
    fe r{};
    r.w[0] = 1;
    return r;
  }
  CUZK_HD constexpr void store(u64* words) const {
    for (int i = 0; i < F::words; i++) words[i] = w[i];
  }
  CUZK_HD constexpr bool is_zero() const {
    u64 any = 0;
    for (int i = 0; i < F::words; i++) any |= w[i];
    return any == 0;
  }
  CUZK_HD constexpr bool operator==(const fe& other) const {
    u64 difference = 0;
    for (int i = 0; i < F::words; i++) difference |= w[i] ^ other.w[i];
    return difference == 0;
  }
};

// x - modulus where that is not negative.
template <class F>
CUZK_HD constexpr fe<F> reduce_once(const u64* x) {
  fe<F> reduced{};
  carry_bit borrow = 0;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) reduced.w[i] = subtract_with_borrow(x[i], F::modulus[i], borrow);
  u64 keep = 0 - (u64)borrow;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) reduced.w[i] ^= keep & (reduced.w[i] ^ x[i]);
  return reduced;
}

template <class F>
CUZK_HD constexpr bool is_canonical(const u64* x) {
  u64 borrow = 0;
  for (int i = 0; i < F::words; i++) borrow = (u64)(((u128)x[i] - F::modulus[i] - borrow) >> 64) & 1;
  return borrow != 0;
}

template <class F>
CUZK_HD constexpr fe<F> operator+(const fe<F>& a, const fe<F>& b) {
  u64 sum[F::words] = {};
  carry_bit carry = 0;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) sum[i] = add_with_carry(a.w[i], b.w[i], carry);
  return reduce_once<F>(sum);
}

template <class F>
CUZK_HD constexpr fe<F> operator-(const fe<F>& a, const fe<F>& b) {
  fe<F> r{};
  carry_bit borrow = 0;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) r.w[i] = subtract_with_borrow(a.w[i], b.w[i], borrow);
  u64 add_back = 0 - (u64)borrow;
  carry_bit carry = 0;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) r.w[i] = add_with_carry(r.w[i], F::modulus[i] & add_back, carry);
  return r;
}

template <class F>
CUZK_HD constexpr fe<F> operator-(const fe<F>& a) {
  return fe<F>::zero() - a;
}

// t += a b for one word b, a of n words and t of n + 1, low halves of the products first, then the high ones.
template <int n>
CUZK_HD constexpr void add_product(u64* t, const u64* a, u64 b) {
  u64 low[n] = {}, high[n] = {};
#pragma GCC unroll 8
  for (int j = 0; j < n; j++) {
    u128 product = (u128)a[j] * b;
    low[j] = (u64)product;
    high[j] = (u64)(product >> 64);
  }
  carry_bit carry = 0;
#pragma GCC unroll 8
  for (int j = 0; j < n; j++) t[j] = add_with_carry(t[j], low[j], carry);
  t[n] += carry;
  carry = 0;
#pragma GCC unroll 8
  for (int j = 0; j < n; j++) t[j + 1] = add_with_carry(t[j + 1], high[j], carry);
}

// a b / R, row by row. The highest bit of every modulus here is clear, so that n + 1 words hold the sums.
template <class F>
CUZK_HD constexpr fe<F> operator*(const fe<F>& a, const fe<F>& b) {
  constexpr int n = F::words;
  static_assert(F::bits < 64 * n);
  u64 t[n + 1] = {};
#pragma GCC unroll 8
  for (int i = 0; i < n; i++) {
    add_product<n>(t, a.w, b.w[i]);
    add_product<n>(t, F::modulus, t[0] * F::negative_inverse);
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) t[j] = t[j + 1];
    t[n] = 0;
  }
  return reduce_once<F>(t);
}

}  // namespace cuzk

#endif  // what the device has of its own

namespace cuzk {

template <class F>
CUZK_HD constexpr fe<F> square(const fe<F>& a) {
  return a * a;
}

template <class F>
CUZK_HD constexpr fe<F> twice(const fe<F>& a) {
  return a + a;
}

// From any integer of F::words words to Montgomery form, and back to the canonical integer.
template <class F>
CUZK_HD constexpr fe<F> to_montgomery(const fe<F>& integer) {
  return fe<F>::radix_squared() * integer;  // only the left factor has to be canonical
}
template <class F>
CUZK_HD constexpr fe<F> from_montgomery(const fe<F>& a) {
  return a * fe<F>::unit();
}

template <class F>
CUZK_CALL constexpr fe<F> power(const fe<F>& base, const u64* exponent, int exponent_words) {
  fe<F> r = fe<F>::one();
  for (int i = 64 * exponent_words - 1; i >= 0; i--) {
    r = square(r);
    if (exponent[i / 64] >> (i % 64) & 1) r = r * base;
  }
  return r;
}
template <class F>
CUZK_CALL constexpr fe<F> power(const fe<F>& base, u64 exponent) {
  fe<F> r = fe<F>::one(), factor = base;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) r = r * factor;
    factor = square(factor);
  }
  return r;
}

}  // namespace cuzk
