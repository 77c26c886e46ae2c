// Four independent field elements in the lanes of AVX2 registers.
//
// A quad<F> holds 4 elements in F::limbs limbs of F::bits bits, one 64-bit lane each, in Montgomery form with
// R = 2^(limbs bits). Limbs are signed and may be larger than F::bits bits, so that sums and differences go
// into a product without a carry. How far they may go is checked, formula by formula, by the generator
// (generate/vector_formulas.py); after a product all limbs but the highest are in [0, 2^bits) and the value
// lies between a b / R and a b / R + 2p.
#pragma once
#include <immintrin.h>

#include "product_kernels.hpp"
#include "vector_constants.hpp"

namespace cuzk::avx2 {

template <class F>
struct quad {
  __m256i limb[F::limbs];
};

// A product before its last carries: biased columns that stand for limbs 0 .. limbs - 1.
template <class F>
struct column_sums {
  __m256i column[F::limbs - 1];
};

[[gnu::always_inline]] inline __m256i splat(u64 x) { return _mm256_set1_epi64x((long long)x); }

// What the bias of a column carries into the next one.
template <class F>
inline constexpr u64 carry_bias = column_bias >> F::bits;

// Constants in all lanes; the kernels address them by position.
template <class F>
struct constant_table {
  static constexpr int modulus = 0, shifted_modulus = F::limbs, bias = 2 * F::limbs,
                       bias_without_carry = bias + 1, mask = bias + 2, quotient_factor = bias + 3,
                       size = bias + 4;
  alignas(32) u64 lanes[size][4];

  constexpr constant_table() : lanes() {
    for (int lane = 0; lane < 4; lane++) {
      for (int i = 0; i < F::limbs; i++) {
        lanes[modulus + i][lane] = F::modulus[i];
        lanes[shifted_modulus + i][lane] = F::shifted_modulus[i];
      }
      lanes[bias][lane] = column_bias;
      lanes[bias_without_carry][lane] = column_bias - carry_bias<F>;
      lanes[mask][lane] = (1ull << F::bits) - 1;
      lanes[quotient_factor][lane] = F::quotient_factor;
    }
  }
  const __m256i* vectors() const { return reinterpret_cast<const __m256i*>(lanes); }
};
template <class F>
inline constexpr constant_table<F> constants{};

template <class F>
[[gnu::always_inline]] inline __m256i modulus_limb(int i) {
  return constants<F>.vectors()[constant_table<F>::modulus + i];
}
template <class F>
[[gnu::always_inline]] inline __m256i limb_mask() {
  return constants<F>.vectors()[constant_table<F>::mask];
}

// The same field with its products called instead of inlined, which is faster where many follow each other
// (measured: Fq2, and everything on 14 limbs).
template <class F>
struct called : F {
  static constexpr bool out_of_line = true;
};

template <class F>
[[gnu::always_inline]] inline void inlined_product(column_sums<F>& t, const quad<F>& a, const quad<F>& b) {
  product_kernels<F::limbs, F::bits>::multiply(t.column, a.limb, b.limb, constants<F>.vectors());
}
template <class F>
[[gnu::always_inline]] inline void inlined_product_sum(column_sums<F>& t, const quad<F>& a, const quad<F>& b,
                                                       const quad<F>& c, const quad<F>& d) {
  product_kernels<F::limbs, F::bits>::multiply_sum(t.column, a.limb, b.limb, c.limb, d.limb,
                                                   constants<F>.vectors());
}
template <class F>
[[gnu::always_inline]] inline void inlined_square(column_sums<F>& t, const quad<F>& a, const quad<F>& twice) {
  product_kernels<F::limbs, F::bits>::square(t.column, a.limb, twice.limb, constants<F>.vectors());
}
template <class F>
[[gnu::noinline]] void called_product(column_sums<F>& t, const quad<F>& a, const quad<F>& b) {
  inlined_product(t, a, b);
}
template <class F>
[[gnu::noinline]] void called_product_sum(column_sums<F>& t, const quad<F>& a, const quad<F>& b,
                                          const quad<F>& c, const quad<F>& d) {
  inlined_product_sum(t, a, b, c, d);
}
template <class F>
[[gnu::noinline]] void called_square(column_sums<F>& t, const quad<F>& a, const quad<F>& twice) {
  inlined_square(t, a, twice);
}

template <class F>
[[gnu::always_inline]] inline quad<F> operator+(const quad<F>& a, const quad<F>& b) {
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) r.limb[j] = _mm256_add_epi64(a.limb[j], b.limb[j]);
  return r;
}
template <class F>
[[gnu::always_inline]] inline quad<F> operator-(const quad<F>& a, const quad<F>& b) {
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) r.limb[j] = _mm256_sub_epi64(a.limb[j], b.limb[j]);
  return r;
}
template <class F>
[[gnu::always_inline]] inline quad<F> operator-(const quad<F>& a) {
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) r.limb[j] = _mm256_sub_epi64(_mm256_setzero_si256(), a.limb[j]);
  return r;
}
// -x in the lanes where `all_ones` is all ones, x where it is zero.
template <class F>
[[gnu::always_inline]] inline quad<F> negated_where(const quad<F>& x, __m256i all_ones) {
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++)
    r.limb[j] = _mm256_sub_epi64(_mm256_xor_si256(x.limb[j], all_ones), all_ones);
  return r;
}

template <class F>
[[gnu::always_inline]] inline column_sums<F> product(const quad<F>& a, const quad<F>& b) {
  column_sums<F> t;
  if constexpr (F::out_of_line) {
    called_product(t, a, b);
  } else {
    inlined_product(t, a, b);
  }
  return t;
}
// a b + c d with one reduction
template <class F>
[[gnu::always_inline]] inline column_sums<F> product_sum(const quad<F>& a, const quad<F>& b, const quad<F>& c,
                                                         const quad<F>& d) {
  column_sums<F> t;
  if constexpr (F::out_of_line) {
    called_product_sum(t, a, b, c, d);
  } else {
    inlined_product_sum(t, a, b, c, d);
  }
  return t;
}
template <class F>
[[gnu::always_inline]] inline column_sums<F> square(const quad<F>& a) {
  column_sums<F> t;
  if constexpr (F::out_of_line) {
    called_square(t, a, a + a);
  } else {
    inlined_square(t, a, a + a);
  }
  return t;
}
// The columns of no product: bias alone.
template <class F>
[[gnu::always_inline]] inline column_sums<F> no_product() {
  column_sums<F> t;
  t.column[0] = splat(column_bias);
#pragma GCC unroll 16
  for (int j = 1; j < F::limbs - 1; j++) t.column[j] = splat(column_bias - carry_bias<F>);
  return t;
}

// All limbs but the highest brought to [0, 2^bits); `top` is added to the highest.
template <class F>
[[gnu::always_inline]] inline quad<F> carried(const column_sums<F>& sums,
                                              __m256i top = _mm256_setzero_si256()) {
  constexpr int last = F::limbs - 1;
  const __m256i mask = limb_mask<F>();
  quad<F> r;
  __m256i column = sums.column[0];
#pragma GCC unroll 16
  for (int j = 0; j < last - 1; j++) {
    r.limb[j] = _mm256_and_si256(column, mask);
    column = _mm256_add_epi64(sums.column[j + 1], _mm256_srli_epi64(column, F::bits));
  }
  r.limb[last - 1] = _mm256_and_si256(column, mask);
  column = _mm256_add_epi64(_mm256_srli_epi64(column, F::bits), top);
  r.limb[last] = _mm256_sub_epi64(column, splat(carry_bias<F>));
  return r;
}

template <class F>
[[gnu::always_inline]] inline column_sums<F> plus(const column_sums<F>& sums, const quad<F>& extra) {
  column_sums<F> t;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs - 1; j++) t.column[j] = _mm256_add_epi64(sums.column[j], extra.limb[j]);
  return t;
}

// sums + extra, brought to [0, 65/64 p) by taking away an estimated multiple of p.
template <class F>
[[gnu::always_inline]] inline quad<F> carried_reduced(const column_sums<F>& sums, const quad<F>& extra) {
  constexpr int last = F::limbs - 1;
  column_sums<F> t = plus(sums, extra);
  __m256i head = _mm256_add_epi64(_mm256_srli_epi64(t.column[last - 1], F::bits), extra.limb[last]);
  head = _mm256_add_epi64(head, splat(estimate_lift * F::modulus[last] - carry_bias<F>));
  __m256i multiple = _mm256_srli_epi64(_mm256_mul_epu32(head, splat(F::estimate)), estimate_shift);
  multiple = _mm256_sub_epi64(multiple, splat(estimate_lift));
#pragma GCC unroll 16
  for (int j = 0; j < last; j++)
    t.column[j] = _mm256_sub_epi64(t.column[j], _mm256_mul_epi32(multiple, modulus_limb<F>(j)));
  return carried(t, _mm256_sub_epi64(extra.limb[last], _mm256_mul_epi32(multiple, modulus_limb<F>(last))));
}

template <class F>
[[gnu::always_inline]] inline quad<F> normalised(const quad<F>& x) {
  return carried(plus(no_product<F>(), x), x.limb[F::limbs - 1]);
}
template <class F>
[[gnu::always_inline]] inline quad<F> reduced(const quad<F>& x) {
  return carried_reduced(no_product<F>(), x);
}

template <class F>
[[gnu::noinline]] void called_multiply(quad<F>& r, const quad<F>& a, const quad<F>& b) {
  column_sums<F> t;
  inlined_product(t, a, b);
  r = carried(t);
}
template <class F>
[[gnu::always_inline]] inline quad<F> operator*(const quad<F>& a, const quad<F>& b) {
  if constexpr (F::out_of_line) {
    quad<F> r;
    called_multiply(r, a, b);
    return r;
  } else {
    return carried(product(a, b));
  }
}

// From [0, 65/64 p) to [0, p).
template <class F>
[[gnu::always_inline]] inline quad<F> canonical(const quad<F>& x) {
  quad<F> less;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) less.limb[j] = _mm256_sub_epi64(x.limb[j], modulus_limb<F>(j));
  less = normalised(less);
  const __m256i negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), less.limb[F::limbs - 1]);
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) r.limb[j] = _mm256_blendv_epi8(less.limb[j], x.limb[j], negative);
  return r;
}

}  // namespace cuzk::avx2
