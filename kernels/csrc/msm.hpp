// Multi-scalar multiplication by buckets (Pippenger) on signed digits, one point at a time, XYZZ buckets.
//
// Zero scalars cost nothing and ones are added directly: in real witnesses most scalars are one of the two.
#pragma once
#include <bit>
#include <cstring>
#include <memory>

#include "curve.hpp"
#include "digits.hpp"
#include "engine.hpp"
#include "threads.hpp"

namespace cuzk {

template <class Group>
class bucket_bases final : public bases {
 public:
  using E = typename Group::coordinate;
  using point = affine<E>;
  using sum = xyzz<E>;

  bucket_bases(const std::uint8_t* bytes, std::size_t n)
      : count(n), points(std::make_unique_for_overwrite<point[]>(n)) {
    if (n != 0) std::memcpy(static_cast<void*>(points.get()), bytes, n * sizeof(point));
  }

  std::size_t bytes() const override { return count * sizeof(point); }
  std::size_t size() const override { return count; }

  void multiply(const std::uint64_t* scalars, std::size_t n, std::uint64_t* out, int threads) const override {
    selection chosen = select(scalars, n, threads);
    sum total = add(chosen.ones, multiply_selected(scalars, chosen, threads));
    to_affine(total).store(out);
  }

 private:
  struct selection {
    sum ones = sum::infinity();
    std::vector<std::size_t> others;  // scalars that are neither zero nor one
    int bits = 0;                     // the longest of them
  };

  static constexpr std::size_t block = 1 << 14;

  // Whole blocks in the order of their index, so that any number of threads gives the same sums.
  selection select(const std::uint64_t* scalars, std::size_t n, int threads) const {
    std::size_t blocks = (n + block - 1) / block;
    std::vector<selection> parts(blocks);
    parallel_tasks(threads, blocks, [&](std::size_t i) {
      parts[i] = select_range(scalars, i * block, std::min(n, (i + 1) * block));
    });
    selection all;
    for (selection& part : parts) {
      all.ones = add(all.ones, part.ones);
      all.bits = std::max(all.bits, part.bits);
      all.others.insert(all.others.end(), part.others.begin(), part.others.end());
    }
    return all;
  }

  selection select_range(const std::uint64_t* scalars, std::size_t begin, std::size_t end) const {
    selection part;
    std::uint64_t any[scalar_words] = {};
    for (std::size_t i = begin; i < end; i++) {
      const std::uint64_t* s = scalars + scalar_words * i;
      std::uint64_t high = s[1] | s[2] | s[3];
      if (high == 0 && s[0] <= 1) {
        if (s[0] == 1) part.ones = add(part.ones, points[i]);
        continue;
      }
      part.others.push_back(i);
      for (int k = 0; k < scalar_words; k++) any[k] |= s[k];
    }
    for (int k = 0; k < scalar_words; k++) {
      if (any[k] != 0) part.bits = 64 * k + std::bit_width(any[k]);
    }
    return part;
  }

  // Additions a window costs: one for each point, two for each bucket.
  static int best_width(std::size_t n, int bits) {
    int best = 1;
    double least = 1e300;
    for (int c = 1; c <= 18; c++) {
      double cost = (bits / c + 1) * (double(n) + double(1 << c));
      if (cost < least) {
        least = cost;
        best = c;
      }
    }
    return best;
  }

  sum multiply_selected(const std::uint64_t* scalars, const selection& chosen, int threads) const {
    std::size_t n = chosen.others.size();
    if (n == 0) return sum::infinity();
    recoding digits(chosen.bits, best_width(n, chosen.bits));
    auto recoded = std::make_unique_for_overwrite<std::uint64_t[]>(recoded_words * n);
    parallel_ranges(threads, n, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) {
        digits.recode(scalars + scalar_words * chosen.others[i], recoded.get() + recoded_words * i);
      }
    });
    // A task is one window of one part of the points; parts where windows alone cannot fill the threads.
    std::size_t windows = digits.windows, parts = 1;
    while (parts * windows < 2 * std::size_t(threads) && n / parts > 4 * std::size_t(digits.buckets()))
      parts++;
    std::vector<sum> sums(windows * parts);
    parallel_tasks(threads, windows * parts, [&](std::size_t task) {
      std::size_t window = task / parts, part = task % parts;
      sums[task] = window_sum(digits, recoded.get(), chosen.others, int(window), n * part / parts,
                              n * (part + 1) / parts);
    });
    sum total = sum::infinity();
    for (std::size_t window = windows; window-- > 0;) {
      for (int i = 0; i < digits.width; i++) total = double_point(total);
      for (std::size_t part = 0; part < parts; part++) total = add(total, sums[window * parts + part]);
    }
    return total;
  }

  sum window_sum(const recoding& digits, const std::uint64_t* recoded, const std::vector<std::size_t>& others,
                 int window, std::size_t begin, std::size_t end) const {
    std::vector<sum> buckets(digits.buckets(), sum::infinity());
    for (std::size_t i = begin; i < end; i++) {
      int digit = digits.digit(recoded + recoded_words * i, window);
      if (digit == 0) continue;
      const point& p = points[others[i]];
      sum& bucket = buckets[std::abs(digit) - 1];
      bucket = add(bucket, digit < 0 ? negate(p) : p);
    }
    sum running = sum::infinity(), total = sum::infinity();
    for (std::size_t i = buckets.size(); i-- > 0;) {
      running = add(running, buckets[i]);
      total = add(total, running);
    }
    return total;
  }

  std::size_t count;
  std::unique_ptr<point[]> points;
};

}  // namespace cuzk
