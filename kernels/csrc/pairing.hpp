// Optimal ate pairing. Products of pairings share the squarings, the inversions and the final exponentiation.
//
// The points of G2 stay affine: the slopes of all pairs cost one inversion a step.
#pragma once
#include <vector>

#include "subgroup.hpp"

namespace cuzk {

template <class C>
struct miller_pair {
  affine<fe<typename C::fq>> p;
  affine<fe2<typename C::fq>> q;
};

// f times the line through t with that slope, at p. Factors of a proper subfield do not matter: the final
// exponentiation takes them to one.
template <class C>
void multiply_by_line(fe12<C>& f, const affine<fe2<typename C::fq>>& t, const fe2<typename C::fq>& slope,
                      const affine<fe<typename C::fq>>& p) {
  using E = fe2<typename C::fq>;
  E constant = slope * t.x - t.y, linear = -(slope * p.x), height{p.y, {}};
  if constexpr (C::divisive_twist) {  // height + linear w + constant w^3
    auto low = f.c0 * height, high = multiply_sparse(f.c1, linear, constant);
    f.c1 = multiply_sparse(f.c0 + f.c1, height + linear, constant) - low - high;
    f.c0 = low + times_v(high);
  } else {  // constant + linear w^2 + height w^3
    auto low = multiply_sparse(f.c0, constant, linear), high = times_v(f.c1 * height);
    f.c1 = multiply_sparse(f.c0 + f.c1, constant, linear + height) - low - high;
    f.c0 = low + times_v(high);
  }
}

template <class C>
class miller_loop {
 public:
  using E = fe2<typename C::fq>;
  using G2 = affine<E>;

  explicit miller_loop(const std::vector<miller_pair<C>>& all)
      : pairs(all), multiples(all.size()), slopes(all.size()) {
    for (std::size_t i = 0; i < pairs.size(); i++) multiples[i] = pairs[i].q;
  }

  fe12<C> run() {
    constexpr u128 count = C::divisive_twist ? 6 * u128(C::parameter) + 2 : u128(C::parameter),
                   tripled = 3 * count;
    int top = 127;
    while (!(tripled >> top & 1)) top--;
    for (int i = top - 1; i > 0; i--) {  // non-adjacent form of the count, from the digit below the highest
      f = square(f);
      double_all();
      bool high = tripled >> i & 1, low = count >> i & 1;
      if (high && !low) add_all([](const G2& q) { return q; });
      if (!high && low) add_all([](const G2& q) { return negate(q); });
    }
    if constexpr (C::divisive_twist) {  // Barreto-Naehrig: two more lines
      add_all([](const G2& q) { return psi<C>(q); });
      add_all([](const G2& q) { return negate(psi<C>(psi<C>(q))); });
    }
    return C::parameter_negative ? conjugate(f) : f;
  }

 private:
  void double_all() {
    for (std::size_t i = 0; i < pairs.size(); i++) slopes[i] = twice(multiples[i].y);
    invert_slopes();
    for (std::size_t i = 0; i < pairs.size(); i++) {
      E xx = square(multiples[i].x);
      step(i, (twice(xx) + xx) * slopes[i], multiples[i].x);
    }
  }

  template <class Choose>
  void add_all(const Choose& choose) {
    std::vector<G2> addends;
    for (std::size_t i = 0; i < pairs.size(); i++) {
      addends.push_back(choose(pairs[i].q));
      slopes[i] = addends[i].x - multiples[i].x;
    }
    invert_slopes();
    for (std::size_t i = 0; i < pairs.size(); i++) {
      step(i, (addends[i].y - multiples[i].y) * slopes[i], addends[i].x);
    }
  }

  void step(std::size_t i, const E& slope, const E& other_x) {
    G2& t = multiples[i];
    multiply_by_line<C>(f, t, slope, pairs[i].p);
    E x = square(slope) - t.x - other_x;
    t = {x, slope * (t.x - x) - t.y};
  }

  void invert_slopes() {
    std::vector<E> products(slopes.size());
    E product = E::one();
    for (std::size_t i = 0; i < slopes.size(); i++) {
      products[i] = product;
      product = product * slopes[i];
    }
    E inverted = inverse(product);
    for (std::size_t i = slopes.size(); i-- > 0;) {
      E original = slopes[i];
      slopes[i] = inverted * products[i];
      inverted = inverted * original;
    }
  }

  const std::vector<miller_pair<C>>& pairs;
  std::vector<G2> multiples;
  std::vector<E> slopes;
  fe12<C> f = fe12<C>::one();
};

// f^parameter for f of the cyclotomic subgroup, where the inverse is the conjugate.
template <class C>
fe12<C> power_of_parameter(const fe12<C>& f) {
  constexpr u128 x = C::parameter, tripled = 3 * x;
  fe12<C> r = fe12<C>::one(), inverted = conjugate(f);
  for (int i = 66; i > 0; i--) {
    r = square_cyclotomic(r);
    bool high = tripled >> i & 1, low = x >> i & 1;
    if (high && !low) r = r * f;
    if (!high && low) r = r * inverted;
  }
  return C::parameter_negative ? conjugate(r) : r;
}

// f^((q^4 - q^2 + 1) / r) for the Barreto-Naehrig curve; M. Scott, N. Benger, M. Charlemagne,
// L. J. Dominguez Perez, E. J. Kachisa, "On the final exponentiation for calculating pairings on ordinary
// elliptic curves", Pairing 2009.
template <class C>
fe12<C> hard_part_bn(const fe12<C>& f) {
  fe12<C> fx = power_of_parameter(f), fx2 = power_of_parameter(fx), fx3 = power_of_parameter(fx2);
  fe12<C> fq = frobenius(f), fq2 = frobenius(fq), fq3 = frobenius(fq2);
  fe12<C> fx2q = frobenius(fx2);
  fe12<C> y0 = fq * fq2 * fq3;
  fe12<C> y1 = conjugate(f);
  fe12<C> y2 = frobenius(fx2q);
  fe12<C> y3 = conjugate(frobenius(fx));
  fe12<C> y4 = conjugate(fx * fx2q);
  fe12<C> y5 = conjugate(fx2);
  fe12<C> y6 = conjugate(fx3 * frobenius(fx3));
  // y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36
  fe12<C> t0 = square_cyclotomic(y6) * y4 * y5;
  fe12<C> t1 = y3 * y5 * t0;
  t0 = t0 * y2;
  t1 = square_cyclotomic(square_cyclotomic(t1) * t0);
  t0 = t1 * y1;
  t1 = t1 * y0;
  return square_cyclotomic(t0) * t1;
}

// f^(3 (q^4 - q^2 + 1) / r) for the Barreto-Lynn-Scott curve, where
// 3 (q^4 - q^2 + 1) / r = (z - 1)^2 (z + q) (z^2 + q^2 - 1) + 3.
template <class C>
fe12<C> hard_part_bls(const fe12<C>& f) {
  auto less_one = [](const fe12<C>& g) { return power_of_parameter(g) * conjugate(g); };
  fe12<C> a = less_one(less_one(f));
  fe12<C> b = power_of_parameter(a) * frobenius(a);
  fe12<C> c = power_of_parameter(power_of_parameter(b)) * frobenius(frobenius(b)) * conjugate(b);
  return c * square_cyclotomic(f) * f;
}

template <class C>
fe12<C> final_exponentiation(const fe12<C>& f) {
  fe12<C> g = conjugate(f) * inverse(f);  // f^(q^6 - 1)
  g = frobenius(frobenius(g)) * g;        // to the q^2 + 1
  if constexpr (C::divisive_twist)
    return hard_part_bn(g);
  else
    return hard_part_bls(g);
}

// The product of the pairings; pairs with a point at infinity count as one.
template <class C>
fe12<C> pairing_product(std::vector<miller_pair<C>> pairs) {
  std::erase_if(pairs,
                [](const miller_pair<C>& pair) { return pair.p.is_infinity() || pair.q.is_infinity(); });
  if (pairs.empty()) return fe12<C>::one();
  return final_exponentiation(miller_loop<C>(pairs).run());
}

}  // namespace cuzk
