// Long sums and products by 32-bit words with the carry flag of PTX.
//
// The flag lives from one statement to the next, so the order of the calls is the order of the instructions.
// The low and the high half of a product stand in one statement each: only then does the assembler make one
// wide multiply-add of the two. Under the shim the flag is a variable and every function does to the bit what
// its instructions do.
#pragma once
#include "words.hpp"

namespace cuzk::carry {

#ifdef CUZK_SHIM

inline u32 flag = 0;

inline u32 low(u32 a, u32 b) { return a * b; }
inline u32 high(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }

inline u32 add_set(u32 a, u32 b) {
  u64 sum = (u64)a + b;
  flag = (u32)(sum >> 32);
  return (u32)sum;
}
inline u32 add_use_set(u32 a, u32 b) {
  u64 sum = (u64)a + b + flag;
  flag = (u32)(sum >> 32);
  return (u32)sum;
}
inline u32 add_use(u32 a, u32 b) { return a + b + flag; }
inline u32 subtract_set(u32 a, u32 b) {
  flag = a < b;
  return a - b;
}
inline u32 subtract_use_set(u32 a, u32 b) {
  u64 difference = (u64)a - b - flag;
  flag = (u32)(difference >> 32) & 1;
  return (u32)difference;
}
inline u32 subtract_use(u32 a, u32 b) { return a - b - flag; }

inline void multiply(u32& r0, u32& r1, u32 a, u32 b) {
  u64 product = (u64)a * b;
  r0 = (u32)product;
  r1 = (u32)(product >> 32);
}
inline void multiply_add_set(u32& r0, u32& r1, u32 a, u32 b) {
  r0 = add_set(low(a, b), r0);
  r1 = add_use_set(high(a, b), r1);
}
inline void multiply_add_use_set(u32& r0, u32& r1, u32 a, u32 b) {
  r0 = add_use_set(low(a, b), r0);
  r1 = add_use_set(high(a, b), r1);
}
inline void multiply_add_use_set(u32& r0, u32& r1, u32 a, u32 b, u32 c0, u32 c1) {
  u32 sum = add_use_set(low(a, b), c0);
  r1 = add_use_set(high(a, b), c1);
  r0 = sum;
}
inline void multiply_use(u32& r0, u32& r1, u32 a, u32 b) {
  u32 sum = add_use_set(low(a, b), 0);
  r1 = add_use(high(a, b), 0);
  r0 = sum;
}

#else

CUZK_HD u32 add_set(u32 a, u32 b) {
  u32 r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_HD u32 add_use_set(u32 a, u32 b) {
  u32 r;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_HD u32 add_use(u32 a, u32 b) {
  u32 r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_HD u32 subtract_set(u32 a, u32 b) {
  u32 r;
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_HD u32 subtract_use_set(u32 a, u32 b) {
  u32 r;
  asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_HD u32 subtract_use(u32 a, u32 b) {
  u32 r;
  asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

CUZK_HD void multiply(u32& r0, u32& r1, u32 a, u32 b) {
  asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(r0), "=r"(r1) : "r"(a), "r"(b));
}
CUZK_HD void multiply_add_set(u32& r0, u32& r1, u32 a, u32 b) {
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
               : "+r"(r0), "+r"(r1)
               : "r"(a), "r"(b));
}
CUZK_HD void multiply_add_use_set(u32& r0, u32& r1, u32 a, u32 b) {
  asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
               : "+r"(r0), "+r"(r1)
               : "r"(a), "r"(b));
}
CUZK_HD void multiply_add_use_set(u32& r0, u32& r1, u32 a, u32 b, u32 c0, u32 c1) {
  asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
               : "=&r"(r0), "=r"(r1)
               : "r"(a), "r"(b), "r"(c0), "r"(c1));
}
CUZK_HD void multiply_use(u32& r0, u32& r1, u32 a, u32 b) {
  asm volatile("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;"
               : "=&r"(r0), "=r"(r1)
               : "r"(a), "r"(b));
}

#endif

}  // namespace cuzk::carry
