// Optimal ate pairing. Products of pairings share the squarings, the inversions and the final exponentiation;
// the lines through the multiples of a point that is paired often can be kept.
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

// y = slope x + (y of a point on the line - slope its x); `constant` is the negative of the second term.
template <class C>
struct line {
  fe2<typename C::fq> slope, constant;
};

// How the multiple of a point goes on to the next, and through which other point the line is.
enum class step { twice, plus, minus, plus_frobenius, minus_frobenius_squared };

template <class C>
std::vector<step> miller_steps() {
  constexpr u128 count = C::divisive_twist ? 6 * u128(C::parameter) + 2 : u128(C::parameter),
                 tripled = 3 * count;
  std::vector<step> steps;
  int top = 127;
  while (!(tripled >> top & 1)) top--;
  for (int i = top - 1; i > 0; i--) {  // non-adjacent form of the count, from the digit below the highest
    steps.push_back(step::twice);
    bool high = tripled >> i & 1, low = count >> i & 1;
    if (high && !low) steps.push_back(step::plus);
    if (!high && low) steps.push_back(step::minus);
  }
  if constexpr (C::divisive_twist) {  // Barreto-Naehrig: two more lines
    steps.push_back(step::plus_frobenius);
    steps.push_back(step::minus_frobenius_squared);
  }
  return steps;
}

// The lines of some points, step by step.
template <class C>
class line_walk {
 public:
  using E = fe2<typename C::fq>;
  using G2 = affine<E>;

  explicit line_walk(std::vector<G2> all)
      : points(std::move(all)), multiples(points), addends(points), lines(points.size()) {}

  const std::vector<line<C>>& take(step kind) {
    for (std::size_t i = 0; i < points.size(); i++) {
      if (kind != step::twice) addends[i] = addend(points[i], kind);
      lines[i].slope = kind == step::twice ? twice(multiples[i].y) : addends[i].x - multiples[i].x;
    }
    invert_slopes();
    for (std::size_t i = 0; i < points.size(); i++) {
      G2& t = multiples[i];
      E xx = square(t.x), rise = kind == step::twice ? twice(xx) + xx : addends[i].y - t.y;
      E slope = rise * lines[i].slope;
      lines[i] = {slope, slope * t.x - t.y};
      E x = square(slope) - t.x - (kind == step::twice ? t.x : addends[i].x);
      t = {x, slope * (t.x - x) - t.y};
    }
    return lines;
  }

 private:
  static G2 addend(const G2& q, step kind) {
    if (kind == step::plus) return q;
    if (kind == step::minus) return negate(q);
    if (kind == step::plus_frobenius) return psi<C>(q);
    return negate(psi<C>(psi<C>(q)));
  }

  void invert_slopes() {
    std::vector<E> products(lines.size());
    E product = E::one();
    for (std::size_t i = 0; i < lines.size(); i++) {
      products[i] = product;
      product = product * lines[i].slope;
    }
    E inverted = inverse(product);
    for (std::size_t i = lines.size(); i-- > 0;) {
      E original = lines[i].slope;
      lines[i].slope = inverted * products[i];
      inverted = inverted * original;
    }
  }

  std::vector<G2> points, multiples, addends;
  std::vector<line<C>> lines;
};

// All lines of a point other than infinity.
template <class C>
std::vector<line<C>> all_lines(const affine<fe2<typename C::fq>>& q) {
  std::vector<line<C>> found;
  line_walk<C> walk({q});
  for (step kind : miller_steps<C>()) found.push_back(walk.take(kind)[0]);
  return found;
}

// What a line needs to know of the point where it is evaluated: -x / y and 1 / y.
template <class C>
struct evaluation_point {
  fe<typename C::fq> x, y;
};

// For points other than infinity; none has y = 0, since the order of the group is odd.
template <class C>
std::vector<evaluation_point<C>> evaluation_points(const std::vector<affine<fe<typename C::fq>>>& points) {
  using F = fe<typename C::fq>;
  std::vector<evaluation_point<C>> found;
  F product = F::one();
  for (const auto& p : points) {
    found.push_back({-p.x, product});
    product = product * p.y;
  }
  F inverted = inverse(product);
  for (std::size_t i = points.size(); i-- > 0;) {
    found[i].y = found[i].y * inverted;
    found[i].x = found[i].x * found[i].y;
    inverted = inverted * points[i].y;
  }
  return found;
}

// f times the line at the point, divided by y. Factors of a proper subfield do not matter: the final
// exponentiation takes them to one.
template <class C>
void multiply_by_line(fe12<C>& f, const line<C>& through, const evaluation_point<C>& at) {
  using E = fe2<typename C::fq>;
  E constant = through.constant * at.y, linear = through.slope * at.x;
  if constexpr (C::divisive_twist) {  // 1 + linear w + constant w^3
    auto low = f.c0, high = multiply_sparse(f.c1, linear, constant);
    f.c1 = multiply_sparse(f.c0 + f.c1, E::one() + linear, constant) - low - high;
    f.c0 = low + times_v(high);
  } else {  // constant + linear w^2 + w^3
    auto low = multiply_sparse(f.c0, constant, linear), high = times_v(f.c1);
    f.c1 = multiply_sparse(f.c0 + f.c1, constant, linear + E::one()) - low - high;
    f.c0 = low + times_v(high);
  }
}

// A point of G1 and the lines of one of G2.
template <class C>
struct prepared_pair {
  affine<fe<typename C::fq>> p;
  const line<C>* lines;
};

// The product of the Miller loops of all pairs; no point is infinity.
template <class C>
fe12<C> miller_loop(const std::vector<miller_pair<C>>& pairs, const std::vector<prepared_pair<C>>& prepared) {
  std::vector<affine<fe<typename C::fq>>> left;
  std::vector<affine<fe2<typename C::fq>>> right;
  for (const auto& pair : pairs) left.push_back(pair.p), right.push_back(pair.q);
  for (const auto& pair : prepared) left.push_back(pair.p);
  const auto at = evaluation_points<C>(left);
  line_walk<C> walk(right);
  fe12<C> f = fe12<C>::one();
  std::size_t taken = 0;
  for (step kind : miller_steps<C>()) {
    if (kind == step::twice) f = square(f);
    const auto& lines = walk.take(kind);
    for (std::size_t i = 0; i < pairs.size(); i++) multiply_by_line(f, lines[i], at[i]);
    for (std::size_t i = 0; i < prepared.size(); i++) {
      multiply_by_line(f, prepared[i].lines[taken], at[pairs.size() + i]);
    }
    taken++;
  }
  return C::parameter_negative ? conjugate(f) : f;
}

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

// The product of the pairings and of what some others' Miller loops gave; pairs with a point at infinity
// count as one.
template <class C>
fe12<C> pairing_product(std::vector<miller_pair<C>> pairs, std::vector<prepared_pair<C>> prepared = {},
                        const fe12<C>& looped = fe12<C>::one()) {
  std::erase_if(pairs, [](const auto& pair) { return pair.p.is_infinity() || pair.q.is_infinity(); });
  std::erase_if(prepared, [](const auto& pair) { return pair.p.is_infinity(); });
  return final_exponentiation(miller_loop<C>(pairs, prepared) * looped);
}

}  // namespace cuzk
