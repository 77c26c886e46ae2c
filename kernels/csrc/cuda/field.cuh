// Prime field elements on the device, as field.hpp has them on the host: 32-bit limbs of the same
// little-endian words.
//
// A product runs over two accumulators, `even` for the limbs of even weight and `odd` one limb higher, so
// that the two halves of every partial product fall on neighbouring limbs of one of them. The numbers of the
// field lie in constant memory: as literals the assembler would rewrite some of them at a loss.
#pragma once
#include "constants.hpp"
#include "cuda/carry.cuh"

namespace cuzk {

template <int n>
struct field_constants {
  u32 modulus[n];
  u32 one[n];
  u32 radix_squared[n];
  u32 negative_inverse;
};

template <class F>
constexpr field_constants<2 * F::words> make_field_constants() {
  field_constants<2 * F::words> r{};
  for (int i = 0; i < 2 * F::words; i++) {
    r.modulus[i] = (u32)(F::modulus[i / 2] >> (32 * (i % 2)));
    r.one[i] = (u32)(F::one[i / 2] >> (32 * (i % 2)));
    r.radix_squared[i] = (u32)(F::r2[i / 2] >> (32 * (i % 2)));
  }
  r.negative_inverse = (u32)F::negative_inverse;
  return r;
}

template <class F>
struct device_field;

#define CUZK_DEVICE_FIELD(F)                                                                  \
  CUZK_CONSTANT field_constants<2 * F::words> F##_constants = make_field_constants<F>();      \
  template <>                                                                                 \
  struct device_field<F> {                                                                    \
    CUZK_HD static const field_constants<2 * F::words>& constants() { return F##_constants; } \
  };
CUZK_DEVICE_FIELD(bn254_fq)
CUZK_DEVICE_FIELD(bn254_fr)
CUZK_DEVICE_FIELD(bls12_381_fq)
CUZK_DEVICE_FIELD(bls12_381_fr)
#undef CUZK_DEVICE_FIELD

template <class F>
struct alignas(16) fe {
  static constexpr int limbs = 2 * F::words;
  u32 v[limbs];

  CUZK_HD static fe zero() { return fe{}; }
  CUZK_HD static fe one() { return of(device_field<F>::constants().one); }
  CUZK_HD static fe radix_squared() { return of(device_field<F>::constants().radix_squared); }
  CUZK_HD static fe unit() {  // the integer 1
    fe r{};
    r.v[0] = 1;
    return r;
  }
  CUZK_HD bool is_zero() const {
    u32 any = 0;
    CUZK_UNROLL for (int i = 0; i < limbs; i++) any |= v[i];
    return any == 0;
  }
  CUZK_HD bool operator==(const fe& other) const {
    u32 difference = 0;
    CUZK_UNROLL for (int i = 0; i < limbs; i++) difference |= v[i] ^ other.v[i];
    return difference == 0;
  }

 private:
  CUZK_HD static fe of(const u32* limbs_of_it) {
    fe r;
    CUZK_UNROLL for (int i = 0; i < limbs; i++) r.v[i] = limbs_of_it[i];
    return r;
  }
};

// x - modulus where that is not negative.
template <class F>
CUZK_HD fe<F> reduce_once(const fe<F>& x) {
  constexpr int n = fe<F>::limbs;
  const auto& field = device_field<F>::constants();
  fe<F> reduced;
  reduced.v[0] = carry::subtract_set(x.v[0], field.modulus[0]);
  CUZK_UNROLL for (int i = 1; i < n; i++) reduced.v[i] = carry::subtract_use_set(x.v[i], field.modulus[i]);
  bool borrow = carry::subtract_use(0, 0) != 0;
  CUZK_UNROLL for (int i = 0; i < n; i++) reduced.v[i] = borrow ? x.v[i] : reduced.v[i];
  return reduced;
}

template <class F>
CUZK_HD fe<F> operator+(const fe<F>& a, const fe<F>& b) {
  constexpr int n = fe<F>::limbs;
  fe<F> sum;
  sum.v[0] = carry::add_set(a.v[0], b.v[0]);
  CUZK_UNROLL for (int i = 1; i < n - 1; i++) sum.v[i] = carry::add_use_set(a.v[i], b.v[i]);
  sum.v[n - 1] = carry::add_use(a.v[n - 1], b.v[n - 1]);
  return reduce_once(sum);
}

template <class F>
CUZK_HD fe<F> operator-(const fe<F>& a, const fe<F>& b) {
  constexpr int n = fe<F>::limbs;
  const auto& field = device_field<F>::constants();
  fe<F> r;
  r.v[0] = carry::subtract_set(a.v[0], b.v[0]);
  CUZK_UNROLL for (int i = 1; i < n; i++) r.v[i] = carry::subtract_use_set(a.v[i], b.v[i]);
  u32 add_back = carry::subtract_use(0, 0);
  r.v[0] = carry::add_set(r.v[0], field.modulus[0] & add_back);
  CUZK_UNROLL for (int i = 1; i < n - 1; i++) r.v[i] =
      carry::add_use_set(r.v[i], field.modulus[i] & add_back);
  r.v[n - 1] = carry::add_use(r.v[n - 1], field.modulus[n - 1] & add_back);
  return r;
}

template <class F>
CUZK_HD fe<F> operator-(const fe<F>& a) {
  return fe<F>::zero() - a;
}

namespace product {

// sum += the even limbs of a times b, into limbs 0 to n - 1; what is beyond stays in the flag.
template <int n>
CUZK_HD void add_row(u32* sum, const u32* a, u32 b) {
  carry::multiply_add_set(sum[0], sum[1], a[0], b);
  CUZK_UNROLL for (int j = 2; j < n; j += 2) carry::multiply_add_use_set(sum[j], sum[j + 1], a[j], b);
}

template <int n>
CUZK_HD void start(u32* even, u32* odd, const u32* a, u32 b) {
  CUZK_UNROLL for (int j = 0; j < n; j += 2) {
    carry::multiply(even[j], even[j + 1], a[j], b);
    carry::multiply(odd[j], odd[j + 1], a[j + 1], b);
  }
}

// One limb down, where the even accumulator has become the odd one, and a times b added.
template <int n>
CUZK_HD void shift_and_add(u32* even, u32* odd, const u32* a, u32 b) {
  even[0] = carry::add_set(even[0], odd[1]);
  CUZK_UNROLL for (int j = 0; j < n - 2; j += 2) {
    carry::multiply_add_use_set(odd[j], odd[j + 1], a[j + 1], b, odd[j + 2], odd[j + 3]);
  }
  carry::multiply_use(odd[n - 2], odd[n - 1], a[n - 1], b);
  add_row<n>(even, a, b);
  odd[n - 1] = carry::add_use(odd[n - 1], 0);
}

// Adds the multiple of the modulus that clears the lowest limb.
template <int n>
CUZK_HD void clear_lowest(u32* even, u32* odd, const field_constants<n>& field) {
  u32 multiple = even[0] * field.negative_inverse;
  add_row<n>(odd, field.modulus + 1, multiple);
  add_row<n>(even, field.modulus, multiple);
  odd[n - 1] = carry::add_use(odd[n - 1], 0);
}

}  // namespace product

// a b / R. The highest bit of every modulus here is clear, so that the accumulators hold the sums.
template <class F>
CUZK_HD fe<F> operator*(const fe<F>& a, const fe<F>& b) {
  constexpr int n = fe<F>::limbs;
  static_assert(F::bits < 32 * n && n % 2 == 0);
  const auto& field = device_field<F>::constants();
  u32 even[n], odd[n];
  CUZK_UNROLL for (int i = 0; i < n; i += 2) {
    if (i == 0) {
      product::start<n>(even, odd, a.v, b.v[0]);
    } else {
      product::shift_and_add<n>(even, odd, a.v, b.v[i]);
    }
    product::clear_lowest<n>(even, odd, field);
    product::shift_and_add<n>(odd, even, a.v, b.v[i + 1]);
    product::clear_lowest<n>(odd, even, field);
  }
  fe<F> r;
  r.v[0] = carry::add_set(even[0], odd[1]);
  CUZK_UNROLL for (int i = 1; i < n - 1; i++) r.v[i] = carry::add_use_set(even[i], odd[i + 1]);
  r.v[n - 1] = carry::add_use(even[n - 1], 0);
  return reduce_once(r);
}

}  // namespace cuzk
