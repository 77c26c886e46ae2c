// Prime field elements in Montgomery form, R = 2^(64 words), one at a time.
//
// Every value is canonical: below the modulus. `F` is a field of constants.hpp.
#pragma once
#include "constants.hpp"

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

// x - modulus where that is not negative; `carry` is the word above x.
template <class F>
CUZK_HD constexpr fe<F> reduce_once(const u64* x, u64 carry) {
  fe<F> reduced{};
  carry_bit borrow = 0;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) reduced.w[i] = subtract_with_borrow(x[i], F::modulus[i], borrow);
  u64 keep = 0 - (u64)(borrow & (carry ^ 1));
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
  return reduce_once<F>(sum, carry);
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

// a b / R: coarsely integrated operand scanning.
template <class F>
CUZK_HD constexpr fe<F> operator*(const fe<F>& a, const fe<F>& b) {
  constexpr int n = F::words;
  u64 t[n + 2] = {};
#pragma GCC unroll 8
  for (int i = 0; i < n; i++) {
    u128 c = 0;
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
      c += (u128)a.w[j] * b.w[i] + t[j];
      t[j] = (u64)c;
      c >>= 64;
    }
    c += t[n];
    t[n] = (u64)c;
    t[n + 1] = (u64)(c >> 64);
    u64 quotient = t[0] * F::negative_inverse;
    c = ((u128)quotient * F::modulus[0] + t[0]) >> 64;
#pragma GCC unroll 8
    for (int j = 1; j < n; j++) {
      c += (u128)quotient * F::modulus[j] + t[j];
      t[j - 1] = (u64)c;
      c >>= 64;
    }
    c += t[n];
    t[n - 1] = (u64)c;
    t[n] = t[n + 1] + (u64)(c >> 64);
  }
  return reduce_once<F>(t, t[n]);
}

template <class F>
CUZK_HD constexpr fe<F> square(const fe<F>& a) {
  return a * a;
}

template <class F>
CUZK_HD constexpr fe<F> twice(const fe<F>& a) {
  return a + a;
}

// From a canonical integer to Montgomery form and back.
template <class F>
CUZK_HD constexpr fe<F> to_montgomery(const fe<F>& plain) {
  return plain * fe<F>::load(F::r2);
}
template <class F>
CUZK_HD constexpr fe<F> from_montgomery(const fe<F>& a) {
  fe<F> unit{};
  unit.w[0] = 1;
  return a * unit;
}

template <class F>
CUZK_HD constexpr fe<F> power(const fe<F>& base, const u64* exponent, int exponent_words) {
  fe<F> r = fe<F>::one();
  for (int i = 64 * exponent_words - 1; i >= 0; i--) {
    r = square(r);
    if (exponent[i / 64] >> (i % 64) & 1) r = r * base;
  }
  return r;
}
template <class F>
CUZK_HD constexpr fe<F> power(const fe<F>& base, u64 exponent) {
  fe<F> r = fe<F>::one(), factor = base;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) r = r * factor;
    factor = square(factor);
  }
  return r;
}

}  // namespace cuzk
