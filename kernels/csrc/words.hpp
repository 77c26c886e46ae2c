// The word types that host and device share.
#pragma once

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif

#ifndef __CUDACC_RTC__
#include <cstdint>
#endif
#if defined(__x86_64__) && !defined(__CUDACC__)
#define CUZK_X86_CARRY 1
#include <immintrin.h>
#endif

namespace cuzk {

#ifdef __CUDACC_RTC__
using u64 = unsigned long;
using i64 = long;
#else
using u64 = std::uint64_t;
using i64 = std::int64_t;
#endif
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

// One word of a long sum or difference. gcc makes chains of adc and sbb of the intrinsics only.
using carry_bit = unsigned char;
CUZK_HD inline u64 add_with_carry(u64 a, u64 b, carry_bit& carry) {
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
CUZK_HD inline u64 subtract_with_borrow(u64 a, u64 b, carry_bit& borrow) {
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

}  // namespace cuzk
