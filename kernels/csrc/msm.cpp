// Multi-scalar multiplication: bases held in the format of the engine that loaded them.
#include <chrono>
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

void engine::multiply_all(std::span<const bases* const> all, const std::uint64_t* scalars, std::size_t n,
                          std::span<std::uint64_t* const> outs, int threads,
                          const std::function<void(std::size_t)>& done) const {
  for (std::size_t k = 0; k < all.size(); k++) {
    all[k]->multiply(scalars, n, outs[k], threads);
    done(k);
  }
}

multiples engine::choose_multiples(curve_id, group_id, std::size_t, int) const { return {}; }

void engine::build_table(curve_id, group_id, std::span<const point_array>, const multiples&, std::uint64_t*,
                         int) const {
  throw unavailable_engine("this engine has no tables");
}

std::unique_ptr<bases> engine::open_table(curve_id, group_id, const std::uint64_t*, std::size_t,
                                          const multiples&) const {
  throw unavailable_engine("this engine has no tables");
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

// Sums over the same scalars: all[k] is multiplied into outs[k]. seconds[k]: the wall time that it took.
CUZK_EXPORT int cuzk_bases_multiply_all(const bases* const* all, std::size_t count,
                                        const std::uint64_t* scalars, std::size_t n,
                                        std::uint64_t* const* outs, double* seconds, int threads) {
  return guarded([&] {
    using clock = std::chrono::steady_clock;
    for (std::size_t k = 0; k < count; k++)
      if (n > all[k]->size()) throw std::invalid_argument("more scalars than points");
    clock::time_point last = clock::now();
    selected_engine().multiply_all({all, count}, scalars, n, {outs, count}, threads, [&](std::size_t k) {
      const clock::time_point now = clock::now();
      seconds[k] = std::chrono::duration<double>(now - last).count();
      last = now;
    });
  });
}

// The shape of the best table of so many rows; rows comes back as 1 where the engine has no tables.
CUZK_EXPORT int cuzk_table_choose(int curve, int group, std::size_t n, int* window, int* sets, int* rows) {
  return guarded([&] {
    const multiples best = selected_engine().choose_multiples(curve_id{curve}, group_id{group}, n, *rows);
    *window = best.window;
    *sets = best.sets;
    *rows = best.rows;
  });
}

// out: rows times as many words as the points have.
CUZK_EXPORT int cuzk_table_build(int curve, int group, const std::uint8_t* const* arrays,
                                 const std::size_t* sizes, std::size_t count, int window, int sets, int rows,
                                 std::uint64_t* out, int threads) {
  return guarded([&] {
    std::vector<point_array> all(count);
    for (std::size_t k = 0; k < count; k++) all[k] = {arrays[k], sizes[k]};
    selected_engine().build_table(curve_id{curve}, group_id{group}, all, {window, sets, rows}, out, threads);
  });
}

CUZK_EXPORT void cuzk_bases_free(bases* loaded) { delete loaded; }
