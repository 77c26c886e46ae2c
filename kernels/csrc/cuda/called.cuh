// A coordinate whose products are calls: the formulas of curve.hpp over it are small programs.
#pragma once
#include "extension.hpp"

namespace cuzk {

template <class E>
CUZK_CALL E called_product(E a, E b) {
  return a * b;
}
template <class E>
CUZK_CALL E called_square(E a) {
  return square(a);
}

template <class E>
struct called {
  E e;

  CUZK_HD static called zero() { return {E::zero()}; }
  CUZK_HD static called one() { return {E::one()}; }
  CUZK_HD bool is_zero() const { return e.is_zero(); }
  CUZK_HD bool operator==(const called& other) const { return e == other.e; }
  CUZK_HD friend called operator+(const called& a, const called& b) { return {a.e + b.e}; }
  CUZK_HD friend called operator-(const called& a, const called& b) { return {a.e - b.e}; }
  CUZK_HD friend called operator-(const called& a) { return {-a.e}; }
  CUZK_HD friend called operator*(const called& a, const called& b) { return {called_product(a.e, b.e)}; }
  CUZK_HD friend called square(const called& a) { return {called_square(a.e)}; }
  CUZK_HD friend called twice(const called& a) { return {a.e + a.e}; }
  CUZK_HD friend called inverse(const called& a) { return {inverse(a.e)}; }
};

}  // namespace cuzk
