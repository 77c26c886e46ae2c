// Scalars of a multi-scalar multiplication, sorted out and cut into signed digits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "words.hpp"

namespace cuzk::avx2 {

// Which points take part, and how. Points at infinity and zero scalars do not.
struct selection {
  const std::uint32_t* ones;     // points with scalar 1
  const std::uint32_t* entries;  // all others: first the long scalars, then those of one word
  std::size_t one_count, long_count, short_count;
  int bits;  // of the largest scalar among the entries

  std::size_t entry_count() const { return long_count + short_count; }
};

// scalars: n x 4 words; infinite[i]: whether point i is infinity. The lists live in `memory`.
selection select_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite, arena& memory,
                         int threads);

// Signed digits of the entries, one row a window of c bits. The last window takes a carry at most to its
// highest digit because digits are in (-2^(c-1), 2^(c-1)]; what is kept is the negative, so that 16 bits are
// enough for c = 16.
class digit_rows {
  std::int16_t* negatives_;
  std::size_t stride_;
  std::size_t long_count_, entry_count_;
  int window_, windows_, short_windows_;

 public:
  static constexpr int largest_window = 16;

  digit_rows(const selection&, const u64* scalars, int window, arena& memory, int threads);

  int window() const { return window_; }
  int windows() const { return windows_; }
  // Negated digits of the entries, in their order.
  const std::int16_t* negatives(int w) const { return negatives_ + w * stride_; }
  // Entries in a row: short scalars have only zeros in the upper windows.
  std::size_t length(int w) const { return w < short_windows_ ? entry_count_ : long_count_; }
};

// Windows that hold scalars of so many bits and a carry.
inline int windows_for(int bits, int window) { return (bits + 1 + window - 1) / window; }

}  // namespace cuzk::avx2
