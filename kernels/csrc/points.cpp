// Points in arrays: checks, sums, multiples. All affine, in Montgomery form.
#include <atomic>

#include "abi.hpp"
#include "digits.hpp"
#include "subgroup.hpp"
#include "threads.hpp"

namespace cuzk {
namespace {

constexpr std::size_t block = 256;

template <class Group>
typename Group::point load_point(const std::uint8_t* bytes, std::size_t i) {
  u64 words[Group::words];
  std::memcpy(words, bytes + i * sizeof words, sizeof words);
  return Group::point::load(words);
}

// out[i] = affine of compute(i), one inversion for each block.
template <class Group, class Compute>
void fill_points(std::size_t n, u64* out, int threads, const Compute& compute) {
  using E = typename Group::coordinate;
  parallel_tasks(threads, (n + block - 1) / block, [&](std::size_t task) {
    std::size_t begin = task * block, count = std::min(block, n - begin);
    std::vector<xyzz<E>> sums(count);
    std::vector<affine<E>> points(count);
    std::vector<E> products(count);
    for (std::size_t i = 0; i < count; i++) sums[i] = compute(begin + i);
    to_affine(sums.data(), long(count), points.data(), products.data());
    for (std::size_t i = 0; i < count; i++) points[i].store(out + (begin + i) * Group::words);
  });
}

template <class E>
xyzz<E> multiply_windowed(const affine<E>& p, const u64* scalar) {
  static const recoding digits(64 * scalar_words, 5);
  xyzz<E> multiples[16] = {lift(p)};
  for (int i = 1; i < 16; i++) multiples[i] = add(multiples[i - 1], p);
  u64 recoded[recoded_words];
  digits.recode(scalar, recoded);
  xyzz<E> r = xyzz<E>::infinity();
  for (int window = digits.windows - 1; window >= 0; window--) {
    for (int i = 0; i < digits.width; i++) r = double_point(r);
    int digit = digits.digit(recoded, window);
    if (digit > 0) r = add(r, multiples[digit - 1]);
    if (digit < 0) r = add(r, negate(multiples[-digit - 1]));
  }
  return r;
}

template <class Group>
std::size_t find_bad_point(const std::uint8_t* points, std::size_t n, checks wanted, int threads) {
  std::atomic<std::size_t> first{n};
  parallel_tasks(threads, (n + block - 1) / block, [&](std::size_t task) {
    std::size_t end = std::min(n, (task + 1) * block);
    for (std::size_t i = task * block; i < end && i < first.load(std::memory_order_relaxed); i++) {
      if (is_good_point<Group>(points + i * Group::words * sizeof(u64), wanted)) continue;
      std::size_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
    }
  });
  return first;
}

// d 2^(c k) B for every window k and digit d in 1..2^(c-1).
template <class Group>
struct multiples_of_base {
  using E = typename Group::coordinate;
  recoding digits;
  std::vector<affine<E>> table;

  multiples_of_base(const affine<E>& base, int width, int threads)
      : digits(64 * scalar_words, width), table(std::size_t(digits.windows) * digits.buckets()) {
    std::vector<xyzz<E>> starts(digits.windows);
    std::vector<affine<E>> affine_starts(digits.windows);
    std::vector<E> products(digits.windows);
    starts[0] = lift(base);
    for (int k = 1; k < digits.windows; k++) {
      starts[k] = starts[k - 1];
      for (int i = 0; i < width; i++) starts[k] = double_point(starts[k]);
    }
    to_affine(starts.data(), digits.windows, affine_starts.data(), products.data());
    parallel_tasks(threads, digits.windows, [&](std::size_t k) { fill_window(affine_starts[k], k); });
  }

  void fill_window(const affine<E>& start, std::size_t window) {
    std::size_t count = digits.buckets();
    std::vector<xyzz<E>> multiples(count);
    std::vector<E> products(count);
    multiples[0] = lift(start);
    for (std::size_t i = 1; i < count; i++) multiples[i] = add(multiples[i - 1], start);
    to_affine(multiples.data(), long(count), table.data() + window * count, products.data());
  }

  xyzz<E> multiply(const u64* scalar) const {
    u64 recoded[recoded_words];
    digits.recode(scalar, recoded);
    xyzz<E> r = xyzz<E>::infinity();
    for (int k = 0; k < digits.windows; k++) {
      int digit = digits.digit(recoded, k);
      if (digit == 0) continue;
      const affine<E>& p = table[std::size_t(k) * digits.buckets() + std::abs(digit) - 1];
      r = add(r, digit < 0 ? negate(p) : p);
    }
    return r;
  }
};

// A table entry costs about two of the additions that a digit of a scalar costs.
int best_table_width(std::size_t n) {
  int best = 1;
  double least = 1e300;
  for (int c = 1; c <= 13; c++) {
    double cost = (64 * scalar_words / c + 1) * (double(n) + double(1 << c));
    if (cost < least) {
      least = cost;
      best = c;
    }
  }
  return best;
}

}  // namespace
}  // namespace cuzk

using namespace cuzk;

// first_bad: the least index of a point that fails, or n. Infinity is good.
CUZK_EXPORT int cuzk_points_check(int curve, int group, const std::uint8_t* points, std::size_t n,
                                  int subgroup, int threads, std::size_t* first_bad) {
  return guarded([&] {
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      *first_bad =
          find_bad_point<Group>(points, n, subgroup != 0 ? checks::subgroup : checks::curve, threads);
    });
  });
}

CUZK_EXPORT int cuzk_points_add(int curve, int group, const std::uint8_t* a, const std::uint8_t* b,
                                std::size_t n, u64* out, int threads) {
  return guarded([&] {
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      fill_points<Group>(n, out, threads, [&](std::size_t i) {
        return add(lift(load_point<Group>(a, i)), load_point<Group>(b, i));
      });
    });
  });
}

CUZK_EXPORT int cuzk_points_negate(int curve, int group, const std::uint8_t* points, std::size_t n,
                                   u64* out) {
  return guarded([&] {
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      for (std::size_t i = 0; i < n; i++) negate(load_point<Group>(points, i)).store(out + i * Group::words);
    });
  });
}

// out[i] = scalars[i] points[i]; scalars: n x 4 plain words.
CUZK_EXPORT int cuzk_points_multiply(int curve, int group, const std::uint8_t* points, const u64* scalars,
                                     std::size_t n, u64* out, int threads) {
  return guarded([&] {
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      fill_points<Group>(n, out, threads, [&](std::size_t i) {
        return multiply_windowed(load_point<Group>(points, i), scalars + scalar_words * i);
      });
    });
  });
}

// out[i] = scalars[i] base
CUZK_EXPORT int cuzk_fixed_base_multiply(int curve, int group, const std::uint8_t* base, const u64* scalars,
                                         std::size_t n, u64* out, int threads) {
  return guarded([&] {
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      multiples_of_base<Group> multiples(load_point<Group>(base, 0), best_table_width(n), threads);
      fill_points<Group>(n, out, threads,
                         [&](std::size_t i) { return multiples.multiply(scalars + scalar_words * i); });
    });
  });
}
