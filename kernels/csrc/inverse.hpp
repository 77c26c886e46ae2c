// Modular inversion by division steps, variable time.
//
// D. J. Bernstein and B.-Y. Yang, "Fast constant-time gcd computation and modular inversion",
// IACR Transactions on Cryptographic Hardware and Embedded Systems, 2019(3). A division step takes
// (delta, f, g), f odd, to
//     (1 - delta, g, (g - f) / 2)            if delta > 0 and g is odd,
//     (1 + delta, f, (g + (g mod 2) f) / 2)  otherwise,
// and from (1, p, x) it reaches g = 0, f = +-gcd. 62 steps depend on the low 62 bits only, so they are
// gathered in a matrix of words which is then applied to the long numbers, and to the pair (d, e) that
// keeps d x = f and e x = g modulo p.
#pragma once
#include "field.hpp"

#ifdef CUZK_DEVICE
#include "cuda/inverse.cuh"
#else

namespace cuzk {
namespace division_steps {

constexpr int batch = 62;
constexpr u64 low_bits = ~0ull >> (64 - batch);

// 2^steps (f', g') = (ff f + fg g, gf f + gg g); rows have |.| + |.| <= 2^62.
struct transition {
  i64 ff, fg, gf, gg;
};

// A signed integer: limbs of 62 bits, all but the highest in [0, 2^62).
template <int N>
struct limbs {
  i64 l[N];

  CUZK_HD bool is_zero() const {
    i64 any = 0;
    for (int i = 0; i < N; i++) any |= l[i];
    return any == 0;
  }
  CUZK_HD bool is_negative() const { return l[N - 1] < 0; }
  CUZK_HD u64 low_word() const { return (u64)l[0] | (u64)l[1] << batch; }
};

template <int N>
CUZK_HD limbs<N> split(const u64* words, int count) {
  limbs<N> r{};
  for (int i = 0; i < N; i++) {
    int word = batch * i / 64, shift = batch * i % 64;
    u64 bits = word < count ? words[word] >> shift : 0;
    if (shift > 64 - batch && word + 1 < count) bits |= words[word + 1] << (64 - shift);
    r.l[i] = (i64)(bits & low_bits);
  }
  return r;
}

template <int N>
CUZK_HD void join(const limbs<N>& x, u64* words, int count) {
  for (int i = 0; i < count; i++) words[i] = 0;
  for (int i = 0; i < N; i++) {
    int word = batch * i / 64, shift = batch * i % 64;
    if (word < count) words[word] |= (u64)x.l[i] << shift;
    if (shift > 64 - batch && word + 1 < count) words[word + 1] |= (u64)x.l[i] >> (64 - shift);
  }
}

// (a x + b y) / 2^62 where that division is exact.
template <int N>
CUZK_HD limbs<N> combine(const limbs<N>& x, i64 a, const limbs<N>& y, i64 b) {
  limbs<N> r{};
  i128 sum = (i128)a * x.l[0] + (i128)b * y.l[0];
  sum >>= batch;
  for (int i = 1; i < N; i++) {
    sum += (i128)a * x.l[i] + (i128)b * y.l[i];
    r.l[i - 1] = (i64)((u64)sum & low_bits);
    sum >>= batch;
  }
  r.l[N - 1] = (i64)sum;
  return r;
}

// (a x + b y + k p) / 2^62 for the k in [-2^61, 2^61) that makes the division exact.
//
// With |x|, |y| <= B the result is at most B + p / 2, so that no reduction is needed on the way:
// the few batches of one inversion add up to some multiples of p, and the highest limb has room for them.
template <int N>
CUZK_HD limbs<N> combine_modulo(const limbs<N>& x, i64 a, const limbs<N>& y, i64 b, const limbs<N>& p,
                                u64 negative_inverse) {
  limbs<N> r{};
  i128 sum = (i128)a * x.l[0] + (i128)b * y.l[0];
  i64 k = (i64)(((u64)sum * negative_inverse) << (64 - batch)) >> (64 - batch);
  sum = (sum + (i128)k * p.l[0]) >> batch;
  for (int i = 1; i < N; i++) {
    sum += (i128)a * x.l[i] + (i128)b * y.l[i] + (i128)k * p.l[i];
    r.l[i - 1] = (i64)((u64)sum & low_bits);
    sum >>= batch;
  }
  r.l[N - 1] = (i64)sum;
  return r;
}

template <int N>
CUZK_HD limbs<N> add_multiple(const limbs<N>& x, i64 k, const limbs<N>& p) {
  limbs<N> r{};
  i128 sum = 0;
  for (int i = 0; i < N; i++) {
    sum += (i128)x.l[i] + (i128)k * p.l[i];
    r.l[i] = i < N - 1 ? (i64)((u64)sum & low_bits) : (i64)sum;
    sum >>= batch;
  }
  return r;
}

// 62 steps on the low words of f and g. `delta` is the paper's.
CUZK_HD inline transition steps(i64& delta, u64 f, u64 g) {
  u64 ff = 1, fg = 0, gf = 0, gg = 1;
  int left = batch;
  for (;;) {
    // While g is even a step only halves it; the sentinel stops the count at `left`.
    int even = __builtin_ctzll(g | 1ull << left);
    g >>= even;
    ff <<= even;
    fg <<= even;
    delta += even;
    left -= even;
    if (left == 0) break;
    if (delta > 0) {
      u64 old_f = f, old_ff = ff, old_fg = fg;
      f = g;
      g = 0 - old_f;
      ff = gf;
      fg = gg;
      gf = 0 - old_ff;
      gg = 0 - old_fg;
      delta = -delta;
    }
    // The next 1 - delta steps keep f: together they add that multiple of f which clears as many low
    // bits of g. f (2 - f^2) is 1 / f modulo 2^6, by one Newton step from f = 1 / f modulo 2^3.
    i64 clear = 1 - delta < left ? 1 - delta : left;
    u64 multiple = (f * g * (f * f - 2)) & 63 & (~0ull >> (64 - clear));
    g += multiple * f;
    gf += multiple * ff;
    gg += multiple * fg;
  }
  return {(i64)ff, (i64)fg, (i64)gf, (i64)gg};
}

}  // namespace division_steps

// 1 / x modulo p for plain integers 0 < x < p of F::words words; 0 for 0.
template <class F>
CUZK_HD void invert_plain(const u64* x, u64* result) {
  using namespace division_steps;
  constexpr int n = (F::bits + 6 + batch - 1) / batch;  // room for the sign and some multiples of p
  const limbs<n> p = split<n>(F::modulus, F::words);
  limbs<n> f = p, g = split<n>(x, F::words), d{}, e{};
  e.l[0] = 1;
  i64 delta = 1;
  while (!g.is_zero()) {
    transition t = steps(delta, f.low_word(), g.low_word());
    limbs<n> next_f = combine(f, t.ff, g, t.fg),
             next_d = combine_modulo(d, t.ff, e, t.fg, p, F::negative_inverse);
    g = combine(f, t.gf, g, t.gg);
    e = combine_modulo(d, t.gf, e, t.gg, p, F::negative_inverse);
    f = next_f;
    d = next_d;
  }
  limbs<n> r = f.is_negative() ? add_multiple(limbs<n>{}, -1, d) : d;
  while (r.is_negative()) r = add_multiple(r, 1, p);
  for (;;) {
    limbs<n> less = add_multiple(r, -1, p);
    if (less.is_negative()) break;
    r = less;
  }
  join(r, result, F::words);
}

// 1 / a in Montgomery form; 0 for 0.
template <class F>
CUZK_HD fe<F> inverse(const fe<F>& a) {
  fe<F> r{};
  invert_plain<F>(a.w, r.w);
  return r * fe<F>::load(F::r3);
}

}  // namespace cuzk

#endif  // what the device has of its own
