// Extensions of Fq: Fq2 = Fq[u]/(u^2 + 1), Fq6 = Fq2[v]/(v^3 - xi), Fq12 = Fq6[w]/(w^2 - v).
//
// `C` is a curve of constants.hpp (it names xi), `F` its field Fq.
#pragma once
#include "inverse.hpp"

namespace cuzk {

template <class F>
struct fe2 {
  fe<F> c0, c1;

  CUZK_HD static constexpr fe2 load(const u64* words) {
    return {fe<F>::load(words), fe<F>::load(words + F::words)};
  }
  CUZK_HD static constexpr fe2 zero() { return fe2{}; }
  CUZK_HD static constexpr fe2 one() { return {fe<F>::one(), fe<F>::zero()}; }
  CUZK_HD constexpr void store(u64* words) const {
    c0.store(words);
    c1.store(words + F::words);
  }
  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD constexpr bool operator==(const fe2& other) const { return c0 == other.c0 && c1 == other.c1; }
};

template <class F>
CUZK_HD constexpr fe2<F> operator+(const fe2<F>& a, const fe2<F>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1};
}
template <class F>
CUZK_HD constexpr fe2<F> operator-(const fe2<F>& a, const fe2<F>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1};
}
template <class F>
CUZK_HD constexpr fe2<F> operator-(const fe2<F>& a) {
  return {-a.c0, -a.c1};
}
template <class F>
CUZK_HD constexpr fe2<F> operator*(const fe2<F>& a, const fe2<F>& b) {
  fe<F> low = a.c0 * b.c0, high = a.c1 * b.c1;
  return {low - high, (a.c0 + a.c1) * (b.c0 + b.c1) - low - high};
}
template <class F>
CUZK_HD constexpr fe2<F> operator*(const fe2<F>& a, const fe<F>& b) {
  return {a.c0 * b, a.c1 * b};
}
template <class F>
CUZK_HD constexpr fe2<F> square(const fe2<F>& a) {
  fe<F> cross = a.c0 * a.c1;
  return {(a.c0 + a.c1) * (a.c0 - a.c1), cross + cross};
}
template <class F>
CUZK_HD constexpr fe2<F> twice(const fe2<F>& a) {
  return a + a;
}
template <class F>
CUZK_HD constexpr fe2<F> conjugate(const fe2<F>& a) {
  return {a.c0, -a.c1};
}
template <class F>
CUZK_HD fe2<F> inverse(const fe2<F>& a) {
  fe<F> norm = inverse(square(a.c0) + square(a.c1));
  return {a.c0 * norm, -(a.c1 * norm)};
}

template <class C>
CUZK_HD constexpr fe2<typename C::fq> times_xi(const fe2<typename C::fq>& a) {
  if constexpr (C::divisive_twist) {  // 9 + u
    fe2<typename C::fq> nine = twice(twice(twice(a))) + a;
    return {nine.c0 - a.c1, nine.c1 + a.c0};
  } else {  // 1 + u
    return {a.c0 - a.c1, a.c0 + a.c1};
  }
}

template <class C>
struct fe6 {
  using coefficient = fe2<typename C::fq>;
  coefficient c0, c1, c2;

  CUZK_HD static constexpr fe6 zero() { return fe6{}; }
  CUZK_HD static constexpr fe6 one() { return {coefficient::one(), {}, {}}; }
  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero() && c2.is_zero(); }
  CUZK_HD constexpr bool operator==(const fe6& b) const { return c0 == b.c0 && c1 == b.c1 && c2 == b.c2; }
};

template <class C>
CUZK_HD constexpr fe6<C> operator+(const fe6<C>& a, const fe6<C>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
}
template <class C>
CUZK_HD constexpr fe6<C> operator-(const fe6<C>& a, const fe6<C>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
}
template <class C>
CUZK_HD constexpr fe6<C> operator-(const fe6<C>& a) {
  return {-a.c0, -a.c1, -a.c2};
}
template <class C>
CUZK_HD constexpr fe6<C> operator*(const fe6<C>& a, const fe6<C>& b) {
  auto p0 = a.c0 * b.c0, p1 = a.c1 * b.c1, p2 = a.c2 * b.c2;
  auto cross12 = (a.c1 + a.c2) * (b.c1 + b.c2) - p1 - p2;
  auto cross01 = (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1;
  auto cross02 = (a.c0 + a.c2) * (b.c0 + b.c2) - p0 - p2;
  return {p0 + times_xi<C>(cross12), cross01 + times_xi<C>(p2), cross02 + p1};
}
template <class C>
CUZK_HD constexpr fe6<C> operator*(const fe6<C>& a, const fe2<typename C::fq>& b) {
  return {a.c0 * b, a.c1 * b, a.c2 * b};
}
// a (b0 + b1 v)
template <class C>
CUZK_HD constexpr fe6<C> multiply_sparse(const fe6<C>& a, const fe2<typename C::fq>& b0,
                                         const fe2<typename C::fq>& b1) {
  auto p0 = a.c0 * b0, p1 = a.c1 * b1;
  auto cross01 = (a.c0 + a.c1) * (b0 + b1) - p0 - p1;
  return {p0 + times_xi<C>(a.c2 * b1), cross01, a.c2 * b0 + p1};
}
template <class C>
CUZK_HD constexpr fe6<C> times_v(const fe6<C>& a) {
  return {times_xi<C>(a.c2), a.c0, a.c1};
}
template <class C>
CUZK_HD fe6<C> inverse(const fe6<C>& a) {
  auto t0 = square(a.c0) - times_xi<C>(a.c1 * a.c2);
  auto t1 = times_xi<C>(square(a.c2)) - a.c0 * a.c1;
  auto t2 = square(a.c1) - a.c0 * a.c2;
  auto norm = inverse(a.c0 * t0 + times_xi<C>(a.c2 * t1 + a.c1 * t2));
  return {t0 * norm, t1 * norm, t2 * norm};
}

template <class C>
struct fe12 {
  fe6<C> c0, c1;

  CUZK_HD static constexpr fe12 one() { return {fe6<C>::one(), {}}; }
  CUZK_HD constexpr bool operator==(const fe12& b) const { return c0 == b.c0 && c1 == b.c1; }
};

template <class C>
CUZK_HD constexpr fe12<C> operator*(const fe12<C>& a, const fe12<C>& b) {
  auto p0 = a.c0 * b.c0, p1 = a.c1 * b.c1;
  return {p0 + times_v(p1), (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1};
}
template <class C>
CUZK_HD constexpr fe12<C> square(const fe12<C>& a) {
  auto cross = a.c0 * a.c1;
  auto mixed = (a.c0 + a.c1) * (a.c0 + times_v(a.c1));
  return {mixed - cross - times_v(cross), cross + cross};
}
template <class C>
CUZK_HD constexpr fe12<C> conjugate(const fe12<C>& a) {
  return {a.c0, -a.c1};
}
template <class C>
CUZK_HD fe12<C> inverse(const fe12<C>& a) {
  auto norm = inverse(a.c0 * a.c0 - times_v(a.c1 * a.c1));
  return {a.c0 * norm, -(a.c1 * norm)};
}

// a^q. The coefficient of w^i is conjugated and multiplied by xi^(i (q - 1) / 6).
template <class C>
CUZK_HD constexpr fe12<C> frobenius(const fe12<C>& a) {
  using E = fe2<typename C::fq>;
  auto map = [](const E& coefficient, int i) { return conjugate(coefficient) * E::load(C::frobenius[i]); };
  return {{conjugate(a.c0.c0), map(a.c0.c1, 2), map(a.c0.c2, 4)},
          {map(a.c1.c0, 1), map(a.c1.c1, 3), map(a.c1.c2, 5)}};
}

// a^2 for a of the cyclotomic subgroup (a^(q^4 - q^2 + 1) = 1).
//
// R. Granger and M. Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", PKC 2010.
template <class C>
CUZK_HD constexpr fe12<C> square_cyclotomic(const fe12<C>& a) {
  using E = fe2<typename C::fq>;
  struct pair {
    E low, high;
  };
  auto square_quadratic = [](const E& x, const E& y) {  // (x + y s)^2 with s^2 = xi
    E xx = square(x), yy = square(y);
    return pair{xx + times_xi<C>(yy), square(x + y) - xx - yy};
  };
  auto shrink = [](const E& squared, const E& original) { return twice(squared - original) + squared; };
  auto grow = [](const E& squared, const E& original) { return twice(squared + original) + squared; };
  pair first = square_quadratic(a.c0.c0, a.c1.c1);
  pair second = square_quadratic(a.c1.c0, a.c0.c2);
  pair third = square_quadratic(a.c0.c1, a.c1.c2);
  return {{shrink(first.low, a.c0.c0), shrink(second.low, a.c0.c1), shrink(third.low, a.c0.c2)},
          {grow(times_xi<C>(third.high), a.c1.c0), grow(first.high, a.c1.c1), grow(second.high, a.c1.c2)}};
}

}  // namespace cuzk
