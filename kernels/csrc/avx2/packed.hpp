// Field elements in memory: F::words 64-bit words each, in the vector Montgomery domain, below 65/64 p.
#pragma once
#include "vector_field.hpp"

namespace cuzk::avx2 {

[[gnu::always_inline]] inline void transpose(__m256i* columns, __m256i a, __m256i b, __m256i c, __m256i d) {
  __m256i even_low = _mm256_unpacklo_epi64(a, b), odd_low = _mm256_unpackhi_epi64(a, b);
  __m256i even_high = _mm256_unpacklo_epi64(c, d), odd_high = _mm256_unpackhi_epi64(c, d);
  columns[0] = _mm256_permute2x128_si256(even_low, even_high, 0x20);
  columns[1] = _mm256_permute2x128_si256(odd_low, odd_high, 0x20);
  columns[2] = _mm256_permute2x128_si256(even_low, even_high, 0x31);
  columns[3] = _mm256_permute2x128_si256(odd_low, odd_high, 0x31);
}
[[gnu::always_inline]] inline __m256i load_four(const u64* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
[[gnu::always_inline]] inline __m256i load_two_and_two(const u64* p, const u64* q) {
  __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)), 1);
}
[[gnu::always_inline]] inline void store_two(u64* p, __m128i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
}

// The words of 4 elements, one vector a word.
template <class F>
struct quad_words {
  __m256i word[F::words];
};

// Reads 4 elements, `offset` words from where `at` points.
template <class F>
[[gnu::always_inline]] inline quad_words<F> gather(const u64* const* at, int offset) {
  static_assert(F::words == 4 || F::words == 6);
  quad_words<F> w;
  transpose(w.word, load_four(at[0] + offset), load_four(at[1] + offset), load_four(at[2] + offset),
            load_four(at[3] + offset));
  if constexpr (F::words == 6) {
    __m256i even = load_two_and_two(at[0] + offset + 4, at[2] + offset + 4);
    __m256i odd = load_two_and_two(at[1] + offset + 4, at[3] + offset + 4);
    w.word[4] = _mm256_unpacklo_epi64(even, odd);
    w.word[5] = _mm256_unpackhi_epi64(even, odd);
  }
  return w;
}
template <class F>
[[gnu::always_inline]] inline void scatter(u64* const* at, int offset, const quad_words<F>& w) {
  __m256i rows[4];
  transpose(rows, w.word[0], w.word[1], w.word[2], w.word[3]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) _mm256_storeu_si256(reinterpret_cast<__m256i*>(at[i] + offset), rows[i]);
  if constexpr (F::words == 6) {
    __m256i even = _mm256_unpacklo_epi64(w.word[4], w.word[5]),
            odd = _mm256_unpackhi_epi64(w.word[4], w.word[5]);
    store_two(at[0] + offset + 4, _mm256_castsi256_si128(even));
    store_two(at[1] + offset + 4, _mm256_castsi256_si128(odd));
    store_two(at[2] + offset + 4, _mm256_extracti128_si256(even, 1));
    store_two(at[3] + offset + 4, _mm256_extracti128_si256(odd, 1));
  }
}

template <class F>
[[gnu::always_inline]] inline quad<F> unpack(const quad_words<F>& w) {
  const __m256i mask = limb_mask<F>();
  quad<F> r;
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) {
    const int i = F::bits * j / 64, shift = F::bits * j % 64;
    __m256i x = shift ? _mm256_srli_epi64(w.word[i], shift) : w.word[i];
    if (shift + F::bits > 64 && i + 1 < F::words)
      x = _mm256_or_si256(x, _mm256_slli_epi64(w.word[i + 1], 64 - shift));
    r.limb[j] = j == F::limbs - 1 ? x : _mm256_and_si256(x, mask);
  }
  return r;
}
// x: a value in [0, 2^(64 words)) with carried limbs.
template <class F>
[[gnu::always_inline]] inline quad_words<F> pack(const quad<F>& x) {
  quad_words<F> w;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) w.word[i] = _mm256_setzero_si256();
#pragma GCC unroll 16
  for (int j = 0; j < F::limbs; j++) {
    const int i = F::bits * j / 64, shift = F::bits * j % 64;
    w.word[i] = _mm256_or_si256(w.word[i], shift ? _mm256_slli_epi64(x.limb[j], shift) : x.limb[j]);
    if (shift + F::bits > 64 && i + 1 < F::words)
      w.word[i + 1] = _mm256_or_si256(w.word[i + 1], _mm256_srli_epi64(x.limb[j], 64 - shift));
  }
  return w;
}

// 4 elements that lie `step` words apart.
template <class F>
[[gnu::always_inline]] inline quad<F> load(const u64* data, std::size_t step) {
  const u64* at[4] = {data, data + step, data + 2 * step, data + 3 * step};
  return unpack(gather<F>(at, 0));
}
template <class F>
[[gnu::always_inline]] inline void store(u64* data, std::size_t step, const quad<F>& x) {
  u64* at[4] = {data, data + step, data + 2 * step, data + 3 * step};
  scatter(at, 0, pack(x));
}
// One element in all lanes.
template <class F>
[[gnu::always_inline]] inline quad<F> splat_element(const u64* words) {
  quad_words<F> w;
#pragma GCC unroll 8
  for (int i = 0; i < F::words; i++) w.word[i] = splat(words[i]);
  return unpack(w);
}
// All ones in the lanes whose words are all zero.
template <class F>
[[gnu::always_inline]] inline __m256i zero_lanes(const quad_words<F>& w) {
  __m256i any = w.word[0];
#pragma GCC unroll 8
  for (int i = 1; i < F::words; i++) any = _mm256_or_si256(any, w.word[i]);
  return _mm256_cmpeq_epi64(any, _mm256_setzero_si256());
}

}  // namespace cuzk::avx2
