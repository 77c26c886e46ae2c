// Number-theoretic transform over Fr: radix 4 in place, decimation in time, natural order in and out.
#pragma once
#include <bit>
#include <memory>
#include <mutex>
#include <utility>

#include "field.hpp"
#include "threads.hpp"

namespace cuzk {

// The primitive 2^log_n-th root of unity, log_n <= two_adicity.
template <class C>
fe<typename C::fr> root_of_unity(int log_n) {
  auto root = fe<typename C::fr>::load(C::root_of_unity);
  for (int i = C::two_adicity; i > log_n; i--) root = square(root);
  return root;
}

// What shifts the domain of 2^log_n points to the coset that the quotient is evaluated on.
template <class C>
fe<typename C::fr> coset_shift(int log_n) {
  if (log_n == C::two_adicity) return fe<typename C::fr>::load(C::widest_coset_shift);
  return root_of_unity<C>(log_n + 1);
}

// Powers of the roots of unity for one direction. Entry m + j is w^j for the primitive 2m-th root w, so
// that one table serves every size up to its own, and each stage reads it from front to back.
template <class F>
struct twiddles {
  std::size_t size = 0;
  std::unique_ptr<fe<F>[]> powers;

  const fe<F>* stage(std::size_t m) const { return powers.get() + m; }
};

template <class C>
std::shared_ptr<const twiddles<typename C::fr>> make_twiddles(int log_n, bool inverse_direction,
                                                              int threads) {
  using F = typename C::fr;
  auto table = std::make_shared<twiddles<F>>();
  table->size = std::size_t(1) << log_n;
  table->powers = std::make_unique_for_overwrite<fe<F>[]>(table->size);
  for (int stage = 0; stage < log_n; stage++) {
    std::size_t m = std::size_t(1) << stage;
    fe<F> root = root_of_unity<C>(stage + 1);
    if (inverse_direction) root = inverse(root);
    parallel_ranges(threads, m, 4096, [&](std::size_t begin, std::size_t end) {
      fe<F> w = power(root, begin);
      for (std::size_t j = begin; j < end; j++, w = w * root) table->powers[m + j] = w;
    });
  }
  return table;
}

// The largest table so far, of each curve and direction; a reader keeps the one it got.
template <class C>
std::shared_ptr<const twiddles<typename C::fr>> cached_twiddles(int log_n, bool inverse_direction,
                                                                int threads) {
  static std::mutex guard;
  static std::shared_ptr<const twiddles<typename C::fr>> tables[2];
  std::lock_guard lock(guard);
  auto& table = tables[inverse_direction ? 1 : 0];
  if (!table || table->size < (std::size_t(1) << log_n))
    table = make_twiddles<C>(log_n, inverse_direction, threads);
  return table;
}

template <class E>
void permute_bit_reversed(E* data, int log_n, int threads) {
  if (log_n == 0) return;
  parallel_ranges(threads, std::size_t(1) << log_n, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) {
      std::size_t reversed = 0;
      for (int bit = 0; bit < log_n; bit++) reversed |= (i >> bit & 1) << (log_n - 1 - bit);
      if (reversed > i) std::swap(data[i], data[reversed]);
    }
  });
}

// Stages m and 2m for the butterflies j in [begin, end) of one block of 4m elements.
template <class F>
void radix4(fe<F>* block, const twiddles<F>& table, std::size_t m, std::size_t begin, std::size_t end) {
  const fe<F>*first = table.stage(m), *second = table.stage(2 * m);
  for (std::size_t j = begin; j < end; j++) {
    fe<F> x0 = block[j], x2 = block[j + 2 * m];
    fe<F> t1 = block[j + m] * first[j], t3 = block[j + 3 * m] * first[j];
    fe<F> even_sum = x0 + t1, even_difference = x0 - t1;
    fe<F> odd_sum = (x2 + t3) * second[j], odd_difference = (x2 - t3) * second[j + m];
    block[j] = even_sum + odd_sum;
    block[j + 2 * m] = even_sum - odd_sum;
    block[j + m] = even_difference + odd_difference;
    block[j + 3 * m] = even_difference - odd_difference;
  }
}

template <class F>
void radix2(fe<F>* block, const twiddles<F>& table, std::size_t m, std::size_t begin, std::size_t end) {
  const fe<F>* w = table.stage(m);
  for (std::size_t j = begin; j < end; j++) {
    fe<F> a = block[j], b = block[j + m] * w[j];
    block[j] = a + b;
    block[j + m] = a - b;
  }
}

// All stages of 2^log_block elements in bit-reversed order.
template <class F>
void transform_block(fe<F>* block, int log_block, const twiddles<F>& table) {
  std::size_t n = std::size_t(1) << log_block, m = 1;
  if (log_block % 2 == 1) {
    for (std::size_t i = 0; i < n; i += 2) radix2(block + i, table, 1, 0, 1);
    m = 2;
  }
  for (; m < n; m *= 4) {
    for (std::size_t i = 0; i < n; i += 4 * m) radix4(block + i, table, m, 0, m);
  }
}

template <class C>
void transform(u64* words, int log_n, bool inverse_direction, int threads) {
  using F = typename C::fr;
  constexpr int log_cached = 12;  // a block of 128 KiB
  if (log_n == 0) return;
  auto table = cached_twiddles<C>(log_n, inverse_direction, threads);
  auto* data = reinterpret_cast<fe<F>*>(words);
  permute_bit_reversed(data, log_n, threads);
  // Blocks while they are in the cache; their size has the parity of log_n, so that radix 4 does the rest.
  int log_block = log_n <= log_cached ? log_n : log_cached - (log_n - log_cached) % 2;
  std::size_t n = std::size_t(1) << log_n, block = std::size_t(1) << log_block;
  parallel_tasks(threads, n / block,
                 [&](std::size_t i) { transform_block(data + i * block, log_block, *table); });
  for (std::size_t m = block; m < n; m *= 4) {
    constexpr std::size_t piece = 1024;
    std::size_t pieces_each = m / std::min(m, piece);
    parallel_tasks(threads, n / (4 * m) * pieces_each, [&](std::size_t task) {
      std::size_t at = task / pieces_each * 4 * m, begin = task % pieces_each * (m / pieces_each);
      radix4(data + at, *table, m, begin, begin + m / pieces_each);
    });
  }
}

// data[i] *= factor shift^i
template <class F>
void scale_by_powers(fe<F>* data, std::size_t n, const fe<F>& factor, const fe<F>& shift, int threads) {
  parallel_ranges(threads, n, 4096, [&](std::size_t begin, std::size_t end) {
    fe<F> power_of_shift = factor * power(shift, begin);
    for (std::size_t i = begin; i < end; i++, power_of_shift = power_of_shift * shift)
      data[i] = data[i] * power_of_shift;
  });
}

}  // namespace cuzk
