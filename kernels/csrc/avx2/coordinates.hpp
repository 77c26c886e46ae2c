// One coordinate of four points: in Fq (G1) or in Fq[u]/(u^2 + 1) (G2).
//
// Both have the same static functions, from which batch_addition.hpp makes point additions. `norm` maps an
// element to Fq so that only Fq has to be inverted: N(x) = x for Fq, x0^2 + x1^2 for Fq2.
#pragma once
#include "curve.hpp"
#include "packed.hpp"
#include "prepared_scalars.hpp"

namespace cuzk::avx2 {

template <class F>
struct prime_coordinate {
  using field = F;
  using element = quad<F>;
  using scalar = fe<typename F::scalar>;
  static constexpr int words = F::words;

  [[gnu::always_inline]] static element load(const u64* const* at, int offset) {
    return unpack(gather<F>(at, offset));
  }
  // As load; lanes of `zero` become all ones where the element is all zero words.
  [[gnu::always_inline]] static element load(const u64* const* at, int offset, __m256i& zero) {
    quad_words<F> w = gather<F>(at, offset);
    zero = zero_lanes(w);
    return unpack(w);
  }
  [[gnu::always_inline]] static void store(u64* const* at, int offset, const element& x) {
    scatter(at, offset, pack(x));
  }
  [[gnu::always_inline]] static element subtract(const element& x, const element& y) { return x - y; }
  [[gnu::always_inline]] static element negate_where(const element& x, __m256i m) {
    return negated_where(x, m);
  }
  [[gnu::always_inline]] static element tidy(const element& x) { return normalised(x); }
  // Makes the difference of two signed elements fit for a product.
  [[gnu::always_inline]] static element tidy_signed(const element& x) { return x; }
  [[gnu::always_inline]] static quad<F> norm(const element& x) { return x; }
  [[gnu::always_inline]] static element invert(const element&, const quad<F>& norm_inverse) {
    return norm_inverse;
  }
  [[gnu::always_inline]] static element multiply(const element& x, const element& y) { return x * y; }
  // slope^2 - a - b, reduced
  [[gnu::always_inline]] static element square_subtract(const element& slope, const element& a,
                                                        const element& b) {
    return carried_reduced(square(slope), -(a + b));
  }
  // slope d - y, reduced
  [[gnu::always_inline]] static element multiply_subtract(const element& slope, const element& d,
                                                          const element& y) {
    return carried_reduced(product(slope, d), -y);
  }
  [[gnu::always_inline]] static element twice(const element& x) { return x + x; }
  [[gnu::always_inline]] static element thrice_square(const element& x) {
    quad<F> squared = carried(square(x));
    return normalised(squared + squared + squared);
  }
};

template <class F>
struct quadratic_coordinate {
  using field = F;
  struct element {
    quad<F> c0, c1;
  };
  using scalar = fe2<typename F::scalar>;
  static constexpr int words = 2 * F::words;

  [[gnu::always_inline]] static element load(const u64* const* at, int offset) {
    return {unpack(gather<F>(at, offset)), unpack(gather<F>(at, offset + F::words))};
  }
  [[gnu::always_inline]] static element load(const u64* const* at, int offset, __m256i& zero) {
    quad_words<F> w0 = gather<F>(at, offset), w1 = gather<F>(at, offset + F::words);
    zero = _mm256_and_si256(zero_lanes(w0), zero_lanes(w1));
    return {unpack(w0), unpack(w1)};
  }
  [[gnu::always_inline]] static void store(u64* const* at, int offset, const element& x) {
    scatter(at, offset, pack(x.c0));
    scatter(at, offset + F::words, pack(x.c1));
  }
  [[gnu::always_inline]] static element subtract(const element& x, const element& y) {
    return {x.c0 - y.c0, x.c1 - y.c1};
  }
  [[gnu::always_inline]] static element negate_where(const element& x, __m256i m) {
    return {negated_where(x.c0, m), negated_where(x.c1, m)};
  }
  [[gnu::always_inline]] static element tidy(const element& x) {
    return {normalised(x.c0), normalised(x.c1)};
  }
  [[gnu::always_inline]] static element tidy_signed(const element& x) {
    if constexpr (F::carry_signed_differences) {
      return tidy(x);
    } else {
      return x;
    }
  }
  [[gnu::always_inline]] static quad<F> norm(const element& x) {
    return carried(product_sum(x.c0, x.c0, x.c1, x.c1));
  }
  [[gnu::always_inline]] static element invert(const element& x, const quad<F>& norm_inverse) {
    return {x.c0 * norm_inverse, -x.c1 * norm_inverse};
  }
  [[gnu::always_inline]] static element multiply(const element& x, const element& y) {
    columns t = multiply_columns(x, y);
    return {carried(t.c0), carried(t.c1)};
  }
  [[gnu::always_inline]] static element square_subtract(const element& slope, const element& a,
                                                        const element& b) {
    column_sums<F> c0 = product(slope.c0 + slope.c1, slope.c0 - slope.c1);
    column_sums<F> c1 = product(slope.c0 + slope.c0, slope.c1);
    return {carried_reduced(c0, -(a.c0 + b.c0)), carried_reduced(c1, -(a.c1 + b.c1))};
  }
  [[gnu::always_inline]] static element multiply_subtract(const element& slope, const element& d,
                                                          const element& y) {
    columns t = multiply_columns(slope, d);
    return {carried_reduced(t.c0, -y.c0), carried_reduced(t.c1, -y.c1)};
  }
  [[gnu::always_inline]] static element twice(const element& x) { return {x.c0 + x.c0, x.c1 + x.c1}; }
  [[gnu::always_inline]] static element thrice_square(const element& x) {
    quad<F> c0 = (x.c0 + x.c1) * (x.c0 - x.c1), c1 = (x.c0 + x.c0) * x.c1;
    return {normalised(c0 + c0 + c0), normalised(c1 + c1 + c1)};
  }

 private:
  struct columns {
    column_sums<F> c0, c1;
  };
  // The coefficients of x y, each two products with one reduction.
  [[gnu::always_inline]] static columns multiply_columns(const element& x, const element& y) {
    return {product_sum(x.c0, y.c0, x.c1, -y.c1), product_sum(x.c0, y.c1, x.c1, y.c0)};
  }
};

// Which coordinates a group is summed in, and what that costs. Measured, ns per addition: BN254 G1 76
// inlined, 85 called; BN254 G2 240 inlined, 187 called; BLS12-381 G1 220 inlined, 172 called.
template <class Curve, int G>
struct coordinates_of;
template <>
struct coordinates_of<bn254, 1> {
  using type = prime_coordinate<vector_bn254_fq>;
  static constexpr addition_costs costs{78, 12, 380};
};
template <>
struct coordinates_of<bn254, 2> {
  using type = quadratic_coordinate<called<vector_bn254_fq>>;
  static constexpr addition_costs costs{190, 13, 1000};
};
template <>
struct coordinates_of<bls12_381, 1> {
  using type = prime_coordinate<called<vector_bls12_381_fq>>;
  static constexpr addition_costs costs{172, 12, 700};
};
template <>
struct coordinates_of<bls12_381, 2> {
  using type = quadratic_coordinate<called<vector_bls12_381_fq>>;
  static constexpr addition_costs costs{430, 14, 1900};
};

}  // namespace cuzk::avx2
