// Points of y^2 = x^3 + b over a coordinate field E (fe<F> for G1, fe2<F> for G2).
//
// Infinity is (0, 0) as an affine point and zz = 0 in XYZZ coordinates (x = X / ZZ, y = Y / ZZZ,
// ZZ^3 = ZZZ^2; formulas: Explicit-Formulas Database, short Weierstrass, xyzz, a = 0).
#pragma once
#include "extension.hpp"

namespace cuzk {

template <class E>
struct affine {
  E x, y;

  CUZK_HD static constexpr affine infinity() { return affine{}; }
  CUZK_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  CUZK_HD constexpr bool operator==(const affine& other) const { return x == other.x && y == other.y; }
  CUZK_HD static constexpr affine load(const u64* words) {
    return {E::load(words), E::load(words + sizeof(E) / sizeof(u64))};
  }
  CUZK_HD constexpr void store(u64* words) const {
    x.store(words);
    y.store(words + sizeof(E) / sizeof(u64));
  }
};

template <class E>
struct xyzz {
  E x, y, zz, zzz;

  CUZK_HD static constexpr xyzz infinity() { return xyzz{}; }
  CUZK_HD constexpr bool is_infinity() const { return zz.is_zero(); }
};

template <class E>
CUZK_HD constexpr affine<E> negate(const affine<E>& p) {
  return {p.x, -p.y};
}
template <class E>
CUZK_HD constexpr xyzz<E> negate(const xyzz<E>& p) {
  return {p.x, -p.y, p.zz, p.zzz};
}

template <class E>
CUZK_HD constexpr xyzz<E> lift(const affine<E>& p) {
  if (p.is_infinity()) return xyzz<E>::infinity();
  return {p.x, p.y, E::one(), E::one()};
}

template <class E>
CUZK_CALL constexpr xyzz<E> double_point(const xyzz<E>& p) {
  if (p.is_infinity()) return p;
  E u = twice(p.y), v = square(u), w = u * v, s = p.x * v, xx = square(p.x);
  E m = twice(xx) + xx;
  E x = square(m) - twice(s);
  return {x, m * (s - x) - w * p.y, v * p.zz, w * p.zzz};
}
template <class E>
CUZK_CALL constexpr xyzz<E> double_point(const affine<E>& p) {
  if (p.is_infinity()) return xyzz<E>::infinity();
  E u = twice(p.y), v = square(u), w = u * v, s = p.x * v, xx = square(p.x);
  E m = twice(xx) + xx;
  E x = square(m) - twice(s);
  return {x, m * (s - x) - w * p.y, v, w};
}

template <class E>
CUZK_HD constexpr xyzz<E> add(const xyzz<E>& a, const affine<E>& b) {
  if (b.is_infinity()) return a;
  if (a.is_infinity()) return lift(b);
  E p = b.x * a.zz - a.x, r = b.y * a.zzz - a.y;
  if (p.is_zero()) return r.is_zero() ? double_point(b) : xyzz<E>::infinity();
  E pp = square(p), ppp = p * pp, q = a.x * pp;
  E x = square(r) - ppp - twice(q);
  return {x, r * (q - x) - a.y * ppp, a.zz * pp, a.zzz * ppp};
}

template <class E>
CUZK_HD constexpr xyzz<E> add(const xyzz<E>& a, const xyzz<E>& b) {
  if (a.is_infinity()) return b;
  if (b.is_infinity()) return a;
  E u1 = a.x * b.zz, s1 = a.y * b.zzz;
  E p = b.x * a.zz - u1, r = b.y * a.zzz - s1;
  if (p.is_zero()) return r.is_zero() ? double_point(a) : xyzz<E>::infinity();
  E pp = square(p), ppp = p * pp, q = u1 * pp;
  E x = square(r) - ppp - twice(q);
  return {x, r * (q - x) - s1 * ppp, a.zz * b.zz * pp, a.zzz * b.zzz * ppp};
}

template <class E>
CUZK_HD affine<E> to_affine(const xyzz<E>& p) {
  if (p.is_infinity()) return affine<E>::infinity();
  E i = inverse(p.zzz), z = p.zz * i;  // 1 / ZZZ and ZZ / ZZZ = 1 / Z
  return {p.x * square(z), p.y * i};
}

// As to_affine for n points with one inversion; `products` is room for n coordinates.
template <class E>
CUZK_HD void to_affine(const xyzz<E>* points, long n, affine<E>* out, E* products) {
  E product = E::one();
  for (long i = 0; i < n; i++) {
    products[i] = product;
    if (!points[i].is_infinity()) product = product * points[i].zzz;
  }
  E inverted = inverse(product);
  for (long i = n - 1; i >= 0; i--) {
    if (points[i].is_infinity()) {
      out[i] = affine<E>::infinity();
      continue;
    }
    E zzz_inverse = inverted * products[i], z_inverse = points[i].zz * zzz_inverse;
    inverted = inverted * points[i].zzz;
    out[i] = {points[i].x * square(z_inverse), points[i].y * zzz_inverse};
  }
}

template <class E>
CUZK_HD constexpr bool is_on_curve(const affine<E>& p, const E& b) {
  return p.is_infinity() || square(p.y) == square(p.x) * p.x + b;
}

// scalar * p for a plain integer, most significant bit first.
template <class E>
CUZK_HD constexpr xyzz<E> multiply(const affine<E>& p, const u64* scalar, int words) {
  xyzz<E> r = xyzz<E>::infinity();
  for (int i = 64 * words - 1; i >= 0; i--) {
    r = double_point(r);
    if (scalar[i / 64] >> (i % 64) & 1) r = add(r, p);
  }
  return r;
}

// The coordinate field and the constants of a group, `G` = 1 or 2.
template <class C, int G>
struct group_of;
template <class C>
struct group_of<C, 1> {
  using curve = C;
  using coordinate = fe<typename C::fq>;
  using point = affine<coordinate>;
  static constexpr int words = 2 * C::fq::words;
  CUZK_HD static constexpr coordinate b() { return coordinate::load(C::b1); }
};
template <class C>
struct group_of<C, 2> {
  using curve = C;
  using coordinate = fe2<typename C::fq>;
  using point = affine<coordinate>;
  static constexpr int words = 4 * C::fq::words;
  CUZK_HD static constexpr coordinate b() { return coordinate::load(C::b2); }
};

}  // namespace cuzk
