// Multi-scalar multiplication: bases held in the format of the engine that loaded them.
#include <vector>

#include "abi.hpp"

namespace cuzk {

void engine::add_up(curve_id curve, const point_sum* sums, std::size_t count, const std::uint64_t* scalars,
                    std::size_t n, int threads) const {
  for (std::size_t i = 0; i < count; i++)
    load_bases(curve, sums[i].group, sums[i].points, n, threads)->multiply(scalars, n, sums[i].out, threads);
}

}  // namespace cuzk

using namespace cuzk;

CUZK_EXPORT int cuzk_bases_load(int curve, int group, const std::uint8_t* points, std::size_t n, int threads,
                                bases** out) {
  return guarded([&] {
    *out = selected_engine().load_bases(curve_id{curve}, group_id{group}, points, n, threads).release();
  });
}

CUZK_EXPORT int cuzk_bases_bytes(const bases* loaded, std::size_t* bytes) {
  return guarded([&] { *bytes = loaded->bytes(); });
}

// scalars: n x 4 plain words, aligned to 8 bytes; out: one affine point.
CUZK_EXPORT int cuzk_bases_multiply(const bases* loaded, const std::uint64_t* scalars, std::size_t n,
                                    std::uint64_t* out, int threads) {
  return guarded([&] {
    if (n > loaded->size()) throw std::invalid_argument("more scalars than points");
    loaded->multiply(scalars, n, out, threads);
  });
}

// count sums over the same scalars: groups[k], points[k] (n affine points each, Montgomery) and outs[k].
CUZK_EXPORT int cuzk_add_up(int curve, const int* groups, const std::uint8_t* const* points,
                            std::uint64_t* const* outs, std::size_t count, const std::uint64_t* scalars,
                            std::size_t n, int threads) {
  return guarded([&] {
    std::vector<point_sum> sums(count);
    for (std::size_t k = 0; k < count; k++) sums[k] = {group_id{groups[k]}, points[k], outs[k]};
    selected_engine().add_up(curve_id{curve}, sums.data(), count, scalars, n, threads);
  });
}

CUZK_EXPORT void cuzk_bases_free(bases* loaded) { delete loaded; }
