// A verified proof straight from a zkey and a wtns.
//
// The same steps as proving/groth16 on a host device, but in one pass over the key: each array of points is
// converted into scratch memory, used and forgotten, so that the key is never held twice.
#pragma once
#include <array>
#include <vector>

#include "engine.hpp"
#include "request.hpp"
#include "stopwatch.hpp"

namespace cuzk::oneshot {

using number = std::array<std::uint64_t, 6>;  // plain
using coordinates = std::vector<number>;      // of an affine point: two, or four in G2; all zero at infinity

struct statement {
  curve_id curve;
  coordinates a, b, c;
  std::vector<number> public_signals;
};

// Throws unusual for files that the Python program has to look at, and where the proof fails its own check.
statement prove(const request&, stopwatch&);

}  // namespace cuzk::oneshot
