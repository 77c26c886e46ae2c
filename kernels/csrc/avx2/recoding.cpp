#include "recoding.hpp"

#include <algorithm>
#include <bit>

#include "threads.hpp"

namespace cuzk::avx2 {

namespace {

constexpr int scalar_words = 4;
constexpr int short_bits = 64;

enum class scalar_class { none, one, brief, extended };

scalar_class classify(const u64* s) {
  if ((s[1] | s[2] | s[3]) != 0) return scalar_class::extended;
  if (s[0] > 1) return scalar_class::brief;
  return s[0] == 1 ? scalar_class::one : scalar_class::none;
}

struct tally {
  std::size_t ones = 0, extended = 0, brief = 0;
  u64 used[scalar_words] = {};  // bits that occur in a scalar that is not 0 or 1
};

// Calls visit(i, class) for the points that take part.
template <class Visit>
void visit_range(const u64* scalars, const std::vector<bool>& infinite, std::size_t from, std::size_t to,
                 const Visit& visit) {
  for (std::size_t i = from; i < to; i++) {
    scalar_class c = classify(scalars + scalar_words * i);
    if (c != scalar_class::none && !infinite[i]) visit(i, c);
  }
}

tally count_range(const u64* scalars, const std::vector<bool>& infinite, std::size_t from, std::size_t to) {
  tally t;
  visit_range(scalars, infinite, from, to, [&](std::size_t i, scalar_class c) {
    if (c == scalar_class::one) {
      t.ones++;
      return;
    }
    (c == scalar_class::brief ? t.brief : t.extended)++;
    for (int k = 0; k < scalar_words; k++) t.used[k] |= scalars[scalar_words * i + k];
  });
  return t;
}

int highest_bit(const u64* words) {
  for (int k = scalar_words - 1; k >= 0; k--)
    if (words[k] != 0) return 64 * k + static_cast<int>(std::bit_width(words[k]));
  return 0;
}

}  // namespace

selection select_scalars(const u64* scalars, std::size_t n, const std::vector<bool>& infinite, arena& memory,
                         int threads) {
  const std::size_t pieces = std::clamp<std::size_t>(n / 4096, 1, 4 * std::max(threads, 1));
  std::vector<tally> tallies(pieces);
  auto bound = [&](std::size_t piece) { return n * piece / pieces; };
  parallel_tasks(threads, pieces,
                 [&](std::size_t p) { tallies[p] = count_range(scalars, infinite, bound(p), bound(p + 1)); });

  // From counts to the places where each piece writes.
  tally total;
  for (tally& t : tallies) {
    tally before = total;
    total.ones += t.ones;
    total.extended += t.extended;
    total.brief += t.brief;
    for (int k = 0; k < scalar_words; k++) total.used[k] |= t.used[k];
    t = before;
  }
  auto* ones = memory.take<std::uint32_t>(total.ones);
  auto* entries = memory.take<std::uint32_t>(total.extended + total.brief);
  parallel_tasks(threads, pieces, [&](std::size_t p) {
    std::uint32_t* next_one = ones + tallies[p].ones;
    std::uint32_t* next_long = entries + tallies[p].extended;
    std::uint32_t* next_short = entries + total.extended + tallies[p].brief;
    visit_range(scalars, infinite, bound(p), bound(p + 1), [&](std::size_t i, scalar_class c) {
      std::uint32_t*& next = c == scalar_class::one     ? next_one
                             : c == scalar_class::brief ? next_short
                                                        : next_long;
      *next++ = static_cast<std::uint32_t>(i);
    });
  });
  return {ones, entries, total.ones, total.extended, total.brief, highest_bit(total.used)};
}

digit_rows::digit_rows(const selection& selected, const u64* scalars, int window, arena& memory, int threads)
    : stride_(selected.entry_count() + 96),  // not a power of two: rows must not share cache sets
      long_count_(selected.long_count),
      entry_count_(selected.entry_count()),
      window_(window),
      windows_(windows_for(selected.bits, window)),
      short_windows_(std::min(windows_, windows_for(short_bits, window))) {
  negatives_ = memory.take<std::int16_t>(windows_ * stride_);
  const int half = 1 << (window - 1);
  parallel_ranges(threads, entry_count_, 1024, [&](std::size_t from, std::size_t to) {
    for (std::size_t e = from; e < to; e++) {
      const u64* s = scalars + scalar_words * std::size_t{selected.entries[e]};
      const int rows = e < long_count_ ? windows_ : short_windows_;
      int carry = 0;
      for (int w = 0; w < rows; w++) {
        const int bit = w * window, word = bit / 64, shift = bit % 64;
        u64 value = word < scalar_words ? s[word] >> shift : 0;
        if (shift + window > 64 && word + 1 < scalar_words) value |= s[word + 1] << (64 - shift);
        const int digit = static_cast<int>(value & (2 * half - 1)) + carry;
        carry = digit > half;
        negatives_[w * stride_ + e] = static_cast<std::int16_t>(2 * half * carry - digit);
      }
    }
  });
}

}  // namespace cuzk::avx2
