// Signed digits of scalars: s = sum of digit_k 2^(c k) with |digit_k| <= 2^(c-1).
//
// Adding 2^(c-1) in every window first makes each signed digit a plain window of bits, less 2^(c-1), which
// can be read off in any order.
#pragma once
#include "words.hpp"

namespace cuzk {

constexpr int scalar_words = 4;
constexpr int recoded_words = scalar_words + 1;

struct recoding {
  int width;                  // c, 1 to 24
  int windows;                // enough for every scalar below 2^bits
  u64 offset[recoded_words];  // sum of 2^(c-1) 2^(c k)

  CUZK_HD recoding(int bits, int c) : width(c), windows(bits / c + 1), offset{} {
    for (int k = 0; k < windows; k++) {
      int bit = c * k + c - 1;
      offset[bit / 64] |= 1ull << (bit % 64);
    }
  }

  // The number of buckets a window needs: digits of magnitude 1 to 2^(c-1).
  CUZK_HD int buckets() const { return 1 << (width - 1); }

  CUZK_HD void recode(const u64* scalar, u64* recoded) const {
    carry_bit carry = 0;
    for (int i = 0; i < scalar_words; i++) recoded[i] = add_with_carry(scalar[i], offset[i], carry);
    recoded[scalar_words] = offset[scalar_words] + carry;
  }

  // The highest window is read to its end: it may be one bit wider than c.
  CUZK_HD int digit(const u64* recoded, int window) const {
    int bit = width * window, word = bit / 64, shift = bit % 64;
    u64 bits = recoded[word] >> shift;
    if (shift != 0 && word + 1 < recoded_words) bits |= recoded[word + 1] << (64 - shift);
    int read = window == windows - 1 ? width + 1 : width;
    return (int)(bits & ((1ull << read) - 1)) - (1 << (width - 1));
  }
};

}  // namespace cuzk
