// Signed digits in the order of their buckets: made once for all bases that the same scalars multiply.
#pragma once
#include "recoding.hpp"

namespace cuzk::avx2 {

class sorted_digits {
  int window_, windows_;
  std::size_t stride_;
  std::uint32_t *orders_, *counts_;  // a row a window

 public:
  sorted_digits(const selection&, const u64* scalars, int window, arena& memory, int threads);

  int window() const { return window_; }
  int windows() const { return windows_; }
  // Bucket b holds the points with digit b + 1 or its negative.
  int buckets() const { return 1 << (window_ - 1); }
  // 2 index + sign, bucket by bucket.
  const std::uint32_t* order(int w) const { return orders_ + w * stride_; }
  // How many points each bucket has.
  const std::uint32_t* counts(int w) const { return counts_ + std::size_t(w) * buckets(); }

  // Where part `part` of `parts` begins that share the points of a window evenly.
  struct place_of_cut {
    int bucket;
    std::size_t place;  // in the order
  };
  place_of_cut cut(int w, std::size_t part, std::size_t parts) const;
};

}  // namespace cuzk::avx2
