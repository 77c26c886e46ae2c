// The word types that host and device share.
//
// CUZK_DEVICE says that this is device text: compiled by NVRTC, or by g++ through cuda/shim. CUZK_HD stands
// before every shared function; CUZK_CALL before those that the device calls instead of having them inlined.
#pragma once

#if defined(__CUDACC__) || defined(CUZK_SHIM)
#define CUZK_DEVICE 1
#include "cuda/built_ins.cuh"
#else
#define CUZK_HD
#define CUZK_CALL
#include <cstdint>
#endif
#if defined(__x86_64__) && !defined(CUZK_DEVICE)
#define CUZK_X86_CARRY 1
#include <immintrin.h>
#endif

namespace cuzk {

#ifdef CUZK_DEVICE
using u32 = unsigned int;
using u64 = unsigned long;
using i64 = long;
#else
using u64 = std::uint64_t;
using i64 = std::int64_t;
#endif
#ifndef __CUDACC_RTC__
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;
#endif

// One word of a long sum or difference. gcc makes chains of adc and sbb of the intrinsics only.
using carry_bit = unsigned char;
#ifdef CUZK_DEVICE
CUZK_HD u64 add_with_carry(u64 a, u64 b, carry_bit& carry) {
  u64 partial = a + b, sum = partial + carry;
  carry = (carry_bit)((partial < a) | (sum < partial));
  return sum;
}
#else
inline u64 add_with_carry(u64 a, u64 b, carry_bit& carry) {
#ifdef CUZK_X86_CARRY
  unsigned long long sum = 0;
  carry = _addcarry_u64(carry, a, b, &sum);
  return sum;
#else
  u128 sum = (u128)a + b + carry;
  carry = (carry_bit)(sum >> 64);
  return (u64)sum;
#endif
}
inline u64 subtract_with_borrow(u64 a, u64 b, carry_bit& borrow) {
#ifdef CUZK_X86_CARRY
  unsigned long long difference = 0;
  borrow = _subborrow_u64(borrow, a, b, &difference);
  return difference;
#else
  u128 difference = (u128)a - b - borrow;
  borrow = (carry_bit)(difference >> 64) & 1;
  return (u64)difference;
#endif
}
#endif

}  // namespace cuzk
