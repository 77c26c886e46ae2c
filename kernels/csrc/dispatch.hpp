// From the identifiers of the C ABI to the types of the templates.
#pragma once
#include <stdexcept>

#include "curve.hpp"
#include "engine.hpp"

namespace cuzk {

// Calls work.template operator()<C>() with C = bn254 or bls12_381.
template <class Work>
decltype(auto) with_curve(curve_id curve, Work&& work) {
  switch (curve) {
    case curve_id::bn254:
      return work.template operator()<bn254>();
    case curve_id::bls12_381:
      return work.template operator()<bls12_381>();
  }
  throw std::invalid_argument("unknown curve");
}

// Calls work.template operator()<Group>() with Group = group_of<C, 1 or 2>.
template <class Work>
decltype(auto) with_group(curve_id curve, group_id group, Work&& work) {
  return with_curve(curve, [&]<class C>() -> decltype(auto) {
    switch (group) {
      case group_id::g1:
        return work.template operator()<group_of<C, 1>>();
      case group_id::g2:
        return work.template operator()<group_of<C, 2>>();
    }
    throw std::invalid_argument("unknown group");
  });
}

}  // namespace cuzk
