// Field operations on arrays, for tests and for measuring the multiply; see cuda/README.md.
#include "curve.hpp"

namespace cuzk {
namespace {

enum class operation : u32 {
  multiply = 0,
  add = 1,
  subtract = 2,
  invert = 3,
  to_montgomery = 4,
  from_montgomery = 5,
  square = 6,
  negate = 7
};

using fr = fe<CUZK_CURVE::fr>;
using fq = fe<CUZK_CURVE::fq>;
using fq2 = fe2<CUZK_CURVE::fq>;

CUZK_HD u64 thread_of_grid() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

template <class F>
CUZK_HD fe<F> convert(operation op, const fe<F>& a) {
  return op == operation::to_montgomery ? to_montgomery(a) : from_montgomery(a);
}
template <class F>
CUZK_HD fe2<F> convert(operation, const fe2<F>& a) {
  return a;
}

template <class E>
CUZK_HD E unary(operation op, const E& a) {
  switch (op) {
    case operation::invert:
      return inverse(a);
    case operation::square:
      return square(a);
    case operation::negate:
      return -a;
    default:
      return convert(op, a);
  }
}

template <class E>
CUZK_HD void apply(operation op, const E* a, const E* b, u64 n, E* out) {
  u64 i = thread_of_grid();
  if (i >= n) return;
  switch (op) {
    case operation::multiply:
      out[i] = a[i] * b[i];
      break;
    case operation::add:
      out[i] = a[i] + b[i];
      break;
    case operation::subtract:
      out[i] = a[i] - b[i];
      break;
    default:
      out[i] = unary(op, a[i]);
  }
}

template <class E>
CUZK_HD void repeat(E* x, const E* y, u32 repetitions) {
  u64 i = thread_of_grid();
  E product = x[i], factor = y[i];
  CUZK_NO_UNROLL for (u32 k = 0; k < repetitions; k++) product = product * factor;
  x[i] = product;
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

CUZK_KERNEL(128) apply_fr(u32 op, const fr* a, const fr* b, u64 n, fr* out) {
  apply(operation(op), a, b, n, out);
}
CUZK_KERNEL(128) apply_fq(u32 op, const fq* a, const fq* b, u64 n, fq* out) {
  apply(operation(op), a, b, n, out);
}
CUZK_KERNEL(128) apply_fq2(u32 op, const fq2* a, const fq2* b, u64 n, fq2* out) {
  apply(operation(op), a, b, n, out);
}
CUZK_KERNEL(128) repeat_fr(fr* x, const fr* y, u32 repetitions) { repeat(x, y, repetitions); }
CUZK_KERNEL(128) repeat_fq(fq* x, const fq* y, u32 repetitions) { repeat(x, y, repetitions); }

CUZK_ENTRY(apply_fr)
CUZK_ENTRY(apply_fq)
CUZK_ENTRY(apply_fq2)
CUZK_ENTRY(repeat_fr)
CUZK_ENTRY(repeat_fq)
