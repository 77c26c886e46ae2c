// Membership: on the curve, and in the subgroup of order r.
//
// Each test asks whether an endomorphism acts as the scalar that it is on the subgroup of order r. That no
// other point passes follows from the characteristic polynomial of the endomorphism and the order of the
// curve (tests/unit/kernels/test_points.py does the arithmetic):
//   BLS12-381 G1: (beta x, y) = -z^2 (x, y)                 M. Scott, ePrint 2021/1130
//   BLS12-381 G2: psi(P) = z P                              the same
//   BN254 G2:     (x+1) P + psi(x P) + psi^2(x P) = psi^3(2x P)
//                 Y. El Housni, A. Guillevic, T. Piellard, AFRICACRYPT 2022
//   BN254 G1:     the whole curve has order r.
#pragma once
#include <cstring>

#include "curve.hpp"

namespace cuzk {

// |parameter| p; non-adjacent form, so that few additions are needed.
template <class C, class Point, class E>
xyzz<E> multiply_by_parameter(const Point& p, const xyzz<E>& start) {
  constexpr u128 x = C::parameter, tripled = 3 * x;
  xyzz<E> r = start;
  Point minus = negate(p);
  for (int i = 66; i > 0; i--) {
    bool high = tripled >> i & 1, low = x >> i & 1;
    r = double_point(r);
    if (high && !low) r = add(r, p);
    if (!high && low) r = add(r, minus);
  }
  return r;
}
template <class C, class E>
xyzz<E> multiply_by_parameter(const affine<E>& p) {
  return multiply_by_parameter<C>(p, xyzz<E>::infinity());
}
template <class C, class E>
xyzz<E> multiply_by_parameter(const xyzz<E>& p) {
  return multiply_by_parameter<C>(p, xyzz<E>::infinity());
}

// Untwist, Frobenius, twist: multiplies G2 by q.
template <class C>
affine<fe2<typename C::fq>> psi(const affine<fe2<typename C::fq>>& p) {
  using E = fe2<typename C::fq>;
  return {conjugate(p.x) * E::load(C::psi_x), conjugate(p.y) * E::load(C::psi_y)};
}
template <class C>
xyzz<fe2<typename C::fq>> psi(const xyzz<fe2<typename C::fq>>& p) {
  using E = fe2<typename C::fq>;
  return {conjugate(p.x) * E::load(C::psi_x), conjugate(p.y) * E::load(C::psi_y), conjugate(p.zz),
          conjugate(p.zzz)};
}

template <class Group>
struct membership;

template <>
struct membership<group_of<bn254, 1>> {
  static bool in_subgroup(const affine<fe<bn254_fq>>&) { return true; }
};

template <>
struct membership<group_of<bls12_381, 1>> {
  using E = fe<bls12_381_fq>;
  static bool in_subgroup(const affine<E>& p) {
    affine<E> image{p.x * E::load(bls12_381::cube_root), p.y};
    auto squared = multiply_by_parameter<bls12_381>(multiply_by_parameter<bls12_381>(p));
    return add(squared, image).is_infinity();
  }
};

template <>
struct membership<group_of<bls12_381, 2>> {
  using E = fe2<bls12_381_fq>;
  static bool in_subgroup(const affine<E>& p) {
    static_assert(bls12_381::parameter_negative);
    return add(multiply_by_parameter<bls12_381>(p), psi<bls12_381>(p)).is_infinity();
  }
};

template <>
struct membership<group_of<bn254, 2>> {
  using E = fe2<bn254_fq>;
  static bool in_subgroup(const affine<E>& p) {
    static_assert(!bn254::parameter_negative);
    xyzz<E> xp = multiply_by_parameter<bn254>(p), image = psi<bn254>(xp), image2 = psi<bn254>(image);
    xyzz<E> left = add(add(add(xp, p), image), image2);
    return add(left, negate(double_point(psi<bn254>(image2)))).is_infinity();
  }
};

enum class checks { curve, subgroup };

// `bytes`: one affine point in Montgomery form, unaligned. Infinity is legal; a coordinate that is not below
// the modulus is not.
template <class Group>
bool is_good_point(const unsigned char* bytes, checks wanted) {
  using E = typename Group::coordinate;
  using F = typename Group::curve::fq;
  u64 words[Group::words];
  std::memcpy(words, bytes, sizeof words);
  for (int i = 0; i < Group::words; i += F::words) {
    if (!is_canonical<F>(words + i)) return false;
  }
  auto p = affine<E>::load(words);
  if (p.is_infinity()) return true;
  if (!is_on_curve(p, Group::b())) return false;
  return wanted == checks::curve || membership<Group>::in_subgroup(p);
}

}  // namespace cuzk
