// Multi-scalar multiplication: bases held in the format of the engine that loaded them.
#include <vector>

#include "abi.hpp"
#include "digits.hpp"

namespace cuzk {

void engine::add_up(curve_id curve, std::span<const point_sum> sums, const std::uint64_t* scalars,
                    int threads, const array_release& release) const {
  for (const point_sum& sum : sums) {
    with_group(curve, sum.group, [&]<class Group>() {
      auto total = xyzz<typename Group::coordinate>::infinity();
      const std::uint64_t* next = scalars;
      for (const point_array& array : sum.arrays) {
        std::uint64_t part[Group::words];
        load_bases(curve, sum.group, array.points, array.size, threads)
            ->multiply(next, array.size, part, threads);
        if (release) release(array);
        total = add(total, Group::point::load(part));
        next += scalar_words * array.size;
      }
      to_affine(total).store(sum.out);
    });
  }
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

CUZK_EXPORT void cuzk_bases_free(bases* loaded) { delete loaded; }
