// Inversion on the device: a^(p - 2), the same steps for every thread.
#pragma once
#include "field.hpp"

namespace cuzk {

// 1 / a in Montgomery form; 0 for 0.
template <class F>
CUZK_CALL fe<F> inverse(const fe<F>& a) {
  const auto& field = device_field<F>::constants();
  fe<F> r = fe<F>::one();
  CUZK_NO_UNROLL for (int i = F::bits - 1; i >= 0; i--) {
    // p is odd and above 2 in its lowest limb for every field but one: p = 1 modulo 2^32 borrows.
    u32 limb = field.modulus[i / 32];
    u32 lowest = field.modulus[0];
    if (i / 32 == 0) limb = lowest - 2;
    if (i / 32 == 1) limb -= lowest < 2;
    r = square(r);
    if (limb >> (i % 32) & 1) r = r * a;
  }
  return r;
}

}  // namespace cuzk
