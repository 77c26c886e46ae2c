// Multi-scalar multiplication: bases held in the format of the engine that loaded them.
#include "abi.hpp"

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

CUZK_EXPORT void cuzk_bases_free(bases* loaded) { delete loaded; }
