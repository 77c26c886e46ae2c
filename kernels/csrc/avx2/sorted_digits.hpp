// Signed digits in the order of their buckets: made once for all bases that the same scalars multiply.
#pragma once
#include "recoding.hpp"

namespace cuzk::avx2 {

// How scalars are cut: digits of `window` bits, of which `sets` in a row have bucket sets of their own. Where
// points come with multiples, digit k sets + j takes row k of them (2^(window sets k) times each point) to
// set j.
struct digit_shape {
  int window;
  int sets = 0;            // 0: as many as there are digits
  std::size_t points = 0;  // in a row of multiples
};

class sorted_digits {
  int window_, sets_, rows_;
  std::size_t stride_;
  std::uint32_t *orders_, *counts_;  // a row a set

 public:
  sorted_digits(const selection&, const u64* scalars, const digit_shape&, arena& memory, int threads);

  int window() const { return window_; }
  int sets() const { return sets_; }
  // Bucket b holds the points with digit b + 1 or its negative.
  int buckets() const { return 1 << (window_ - 1); }
  // At most so many digits are in a set.
  std::size_t longest() const { return stride_ - spare; }
  // 2 index + sign, bucket by bucket.
  const std::uint32_t* order(int set) const { return orders_ + set * stride_; }
  // How many points each bucket has.
  const std::uint32_t* counts(int set) const { return counts_ + std::size_t(set) * buckets(); }

  // Where part `part` of `parts` begins that share the points of a set evenly.
  struct place_of_cut {
    int bucket;
    std::size_t place;  // in the order
  };
  place_of_cut cut(int set, std::size_t part, std::size_t parts) const;

 private:
  static constexpr std::size_t spare = 48;  // rows must not share cache sets
};

}  // namespace cuzk::avx2
