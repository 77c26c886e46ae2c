// Number-theoretic transforms over 2^log_n elements of Fr, four columns or blocks in each vector.
//
// Butterflies (u + w v, u - w v) where w depends only on the block: block b of a stage uses T[b], T being the
// powers of the root in bit-reversed order. That takes natural order to bit-reversed order; undone stage by
// stage, (u + v, (u - v) / w), it takes bit-reversed order back to natural order, and the same table serves:
// 1 / T[b] = -T[b with the bits below its highest one flipped]. Up to three stages are done in registers
// between two visits to memory, on columns for large blocks, on four neighbouring blocks for the last ones,
// depth first, so that all but the first passes work in the second-level cache.
//
// Multiplying by a power leaves any representation as it is, so that data may be in another Montgomery
// domain.
#pragma once
#include <bit>
#include <utility>
#include <vector>

#include "field.hpp"
#include "packed.hpp"
#include "threads.hpp"

namespace cuzk::avx2 {

template <class F>
class transform {
  using scalar = fe<typename F::scalar>;
  static constexpr int W = F::words;
  static constexpr int leaf = 5;  // log2 of the blocks that are finished at once

  int log_n_;
  scalar minus_one_ = -scalar::load(F::one);  // this and the next in the vector Montgomery domain
  std::vector<u64> twiddles_;                 // T[0 .. n/2)

 public:
  static constexpr int least_log_n = leaf;

  // root: a primitive 2^log_n-th root of unity; log_n >= least_log_n.
  transform(int log_n, const scalar& root, int threads) : log_n_(log_n) {
    std::vector<scalar> factors(log_n - 1);
    scalar power = root;
    for (int k = log_n - 2; k >= 0; k--) {
      factors[k] = power;
      power = square(power);
    }
    twiddles_ = subset_products(scalar::one(), factors, threads);
  }

  std::size_t bytes() const { return twiddles_.size() * sizeof(u64); }

  // Element i is start times the factors[k] for which bit k of i is set; vector Montgomery domain.
  static std::vector<u64> subset_products(const scalar& start, const std::vector<scalar>& factors,
                                          int threads) {
    std::vector<u64> table((std::size_t{1} << factors.size()) * W);
    to_vector_domain(start).store(&table[0]);
    for (std::size_t k = 0; k < factors.size(); k++) {
      const std::size_t half = std::size_t{1} << k;
      if (half < 4) {  // a scalar product with a scalar factor stays in the vector domain
        for (std::size_t i = 0; i < half; i++)
          (scalar::load(&table[i * W]) * factors[k]).store(&table[(half + i) * W]);
        continue;
      }
      parallel_ranges(threads, half / 4, 1024, [&](std::size_t from, std::size_t to) {
        const quad<F> factor = splat_element<F>(to_vector_domain(factors[k]).w);
        for (std::size_t i = 4 * from; i < 4 * to; i += 4) {
          quad<F> next = carried_reduced(product(load<F>(&table[i * W], W), factor), quad<F>{});
          store(&table[(half + i) * W], W, canonical(next));
        }
      });
    }
    return table;
  }

  // Natural order to bit-reversed order, canonical.
  void forward(u64* data, int threads) const { run<outcome::evaluations>(data, nullptr, threads); }

  // Forward, product with scale[i] at every position i of the bit-reversed order, and back to natural order
  // (without the factor 1/n). Leaves values below 65/64 p.
  void forward_scale_back(u64* data, const u64* scale, int threads) const {
    run<outcome::scaled_back>(data, scale, threads);
  }

  // Exchanges the elements of bit-reversed positions.
  void reverse_bits(u64* data, int threads) const;

 private:
  enum class outcome { evaluations, scaled_back };

  static scalar to_vector_domain(const scalar& x) { return x * scalar::load(F::one); }

  const u64* twiddle(std::size_t block) const { return &twiddles_[block * W]; }
  // -1 / T[block], for (v - u) w
  const u64* undoing_twiddle(std::size_t block) const {
    if (block == 0) return minus_one_.w;
    return twiddle(block ^ (std::bit_floor(block) - 1));
  }

  // The twiddles of up to three stages of one block: w[0], then w[1 .. 2], then w[3 .. 6].
  template <int stages>
  struct stage_twiddles {
    quad<F> w[(1 << stages) - 1];
  };
  template <int stages, bool undo>
  stage_twiddles<stages> block_twiddles(std::size_t block) const {
    stage_twiddles<stages> t;
    for (int s = 0, k = 0; s < stages; s++) {
      for (std::size_t j = 0; j < std::size_t{1} << s; j++) {
        std::size_t at = (block << s) + j;
        t.w[k++] = splat_element<F>(undo ? undoing_twiddle(at) : twiddle(at));
      }
    }
    return t;
  }
  // Of the 4 blocks from `block`, one in each lane.
  template <int stages, bool undo>
  [[gnu::always_inline]] stage_twiddles<stages> lane_twiddles(std::size_t block) const {
    stage_twiddles<stages> t;
    for (int s = 0, k = 0; s < stages; s++) {
      for (std::size_t j = 0; j < std::size_t{1} << s; j++) {
        const u64* at[4];
        for (std::size_t lane = 0; lane < 4; lane++) {
          std::size_t index = ((block + lane) << s) + j;
          at[lane] = undo ? undoing_twiddle(index) : twiddle(index);
        }
        t.w[k++] = unpack(gather<F>(at, 0));
      }
    }
    return t;
  }

  // First: these are of block 0, where the first twiddle of every stage is 1.
  template <int stages, bool First = false>
  [[gnu::always_inline]] static void butterflies(quad<F>* x, const stage_twiddles<stages>& t) {
    for (int s = 0; s < stages; s++) {
      const int half = 1 << (stages - 1 - s);
#pragma GCC unroll 1
      for (int k = 0; k < 1 << (stages - 1); k++) {
        const int block = k / half, u = block * 2 * half + k % half;
        const bool by_one = First && block == 0;
        quad<F> turned = by_one ? x[u + half] : x[u + half] * t.w[(1 << s) - 1 + block];
        x[u + half] = x[u] - turned;
        x[u] = x[u] + turned;
      }
    }
  }
  template <int stages, bool First = false>
  [[gnu::always_inline]] static void undo_butterflies(quad<F>* x, const stage_twiddles<stages>& t) {
    for (int s = stages - 1; s >= 0; s--) {
      const int half = 1 << (stages - 1 - s);
#pragma GCC unroll 1
      for (int k = 0; k < 1 << (stages - 1); k++) {
        const int block = k / half, u = block * 2 * half + k % half;
        if (First && block == 0) {  // the twiddle is -1
          const quad<F> left = x[u];
          x[u] = left + x[u + half];
          x[u + half] = left - x[u + half];
          continue;
        }
        quad<F> difference = x[u + half] - x[u];
        if (half == 4 && k == 0) difference = normalised(difference);  // both are sums of four
        x[u] = x[u] + x[u + half];
        x[u + half] = difference * t.w[(1 << s) - 1 + block];
      }
    }
  }

  // Some stages of one block of 2^log_m elements: its columns [from, to), four at a time.
  template <int stages, bool undo, bool First>
  void wide_pass(u64* data, int log_m, std::size_t block, std::size_t from, std::size_t to) const {
    constexpr int size = 1 << stages;
    const stage_twiddles<stages> t = block_twiddles<stages, undo>(block);
    const std::size_t step = (std::size_t{1} << (log_m - stages)) * W;
    for (std::size_t i = from; i < to; i += 4) {
      u64* column = data + i * W;
      quad<F> x[size];
#pragma GCC unroll 1
      for (int k = 0; k < size; k++) x[k] = load<F>(column + k * step, W);
      if constexpr (undo) {
        undo_butterflies<stages, First>(x, t);
      } else {
        butterflies<stages, First>(x, t);
      }
#pragma GCC unroll 1
      for (int k = 0; k < size; k++) store(column + k * step, W, reduced(x[k]));
    }
  }
  template <bool undo>
  void pass(int stages, u64* data, int log_m, std::size_t block, std::size_t from, std::size_t to) const {
    if (block == 0) return pass_of<undo, true>(stages, data, log_m, block, from, to);
    pass_of<undo, false>(stages, data, log_m, block, from, to);
  }
  template <bool undo, bool First>
  void pass_of(int stages, u64* data, int log_m, std::size_t block, std::size_t from, std::size_t to) const {
    if (stages == 3) return wide_pass<3, undo, First>(data, log_m, block, from, to);
    if (stages == 2) return wide_pass<2, undo, First>(data, log_m, block, from, to);
    wide_pass<1, undo, First>(data, log_m, block, from, to);
  }

  // The last 3 stages of the 4 blocks from `block`, 8 elements each, one block in each lane.
  template <outcome Outcome>
  void narrow_pass(u64* data, std::size_t block, const u64* scale) const {
    constexpr std::size_t step = 8 * W;
    quad<F> x[8];
#pragma GCC unroll 1
    for (int k = 0; k < 8; k++) x[k] = load<F>(data + k * W, step);
    butterflies<3>(x, lane_twiddles<3, false>(block));
    if constexpr (Outcome == outcome::scaled_back) {
#pragma GCC unroll 1
      for (int k = 0; k < 8; k++) x[k] = normalised(x[k]) * load<F>(scale + k * W, step);
      undo_butterflies<3>(x, lane_twiddles<3, true>(block));
    }
#pragma GCC unroll 1
    for (int k = 0; k < 8; k++) {
      quad<F> y = reduced(x[k]);
      store(data + k * W, step, Outcome == outcome::evaluations ? canonical(y) : y);
    }
  }

  // How many stages the next pass takes; the last `leaf` ones are left for the end.
  static int stages_of(int log_m) {
    const int rest = log_m - leaf;
    if (rest % 3 == 0 || rest > 4) return 3;
    return rest == 1 ? 1 : 2;
  }

  // All stages that a block of 2^log_m elements still has; `scale` belongs to its first element.
  template <outcome Outcome>
  void descend(u64* data, int log_m, std::size_t block, const u64* scale) const {
    constexpr bool back = Outcome == outcome::scaled_back;
    if (log_m == leaf) {
      wide_pass<2, false, false>(data, leaf, block, 0, 8);
      narrow_pass<Outcome>(data, block << 2, scale);
      if constexpr (back) wide_pass<2, true, false>(data, leaf, block, 0, 8);
      return;
    }
    const int stages = stages_of(log_m);
    const std::size_t columns = std::size_t{1} << (log_m - stages);
    pass<false>(stages, data, log_m, block, 0, columns);
    for (std::size_t k = 0; k < std::size_t{1} << stages; k++) {
      const std::size_t offset = k * columns * W;
      descend<Outcome>(data + offset, log_m - stages, (block << stages) + k, back ? scale + offset : nullptr);
    }
    if constexpr (back) pass<true>(stages, data, log_m, block, 0, columns);
  }

  struct level {
    int log_m, stages;
  };
  // One pass over all blocks of a level, cut into pieces of columns.
  template <bool undo>
  void run_level(const level& l, u64* data, int threads) const {
    const std::size_t blocks = std::size_t{1} << (log_n_ - l.log_m),
                      columns = std::size_t{1} << (l.log_m - l.stages);
    const std::size_t pieces = std::min<std::size_t>(columns / 4, 4 * threads);
    parallel_tasks(threads, blocks * pieces, [&](std::size_t task) {
      const std::size_t block = task / pieces, piece = task % pieces, quads = columns / 4;
      pass<undo>(l.stages, data + (block << l.log_m) * W, l.log_m, block, quads * piece / pieces * 4,
                 quads * (piece + 1) / pieces * 4);
    });
  }

  // The first levels with all threads together, until there are blocks for each of them.
  template <outcome Outcome>
  void run(u64* data, const u64* scale, int threads) const {
    std::vector<level> levels;
    int log_m = log_n_;
    while (threads > 1 && log_m > 2 * leaf && (1 << (log_n_ - log_m)) < 4 * threads) {
      levels.push_back({log_m, stages_of(log_m)});
      log_m -= levels.back().stages;
    }
    for (const level& l : levels) run_level<false>(l, data, threads);
    parallel_tasks(threads, std::size_t{1} << (log_n_ - log_m), [&](std::size_t block) {
      const std::size_t offset = (block << log_m) * W;
      descend<Outcome>(data + offset, log_m, block, scale == nullptr ? nullptr : scale + offset);
    });
    if constexpr (Outcome == outcome::scaled_back)
      while (!levels.empty()) {
        run_level<true>(levels.back(), data, threads);
        levels.pop_back();
      }
  }
};

template <class F>
[[gnu::always_inline]] inline void exchange_elements(u64* a, u64* b) {
  static_assert(F::words == 4);
  const __m256i x = load_four(a), y = load_four(b);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), y);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), x);
}

// Positions are (high, middle, low) with `tile` bits at both ends: for each pair of middles that are each
// other's reverse, the elements that share a middle are exchanged, a few cache lines at a time.
template <class F>
void transform<F>::reverse_bits(u64* data, int threads) const {
  constexpr int tile = 2, side = 1 << tile;
  auto reverse = [](std::size_t x, int bits) {
    std::size_t r = 0;
    for (int b = 0; b < bits; b++) r |= (x >> b & 1) << (bits - 1 - b);
    return r;
  };
  const int middle_bits = log_n_ - 2 * tile, high_shift = log_n_ - tile;
  parallel_ranges(threads, std::size_t{1} << middle_bits, 256, [&](std::size_t from, std::size_t to) {
    for (std::size_t middle = from; middle < to; middle++) {
      const std::size_t other = reverse(middle, middle_bits);
      if (other < middle) continue;
      for (std::size_t high = 0; high < side; high++) {
        for (std::size_t low = 0; low < side; low++) {
          const std::size_t i = high << high_shift | middle << tile | low;
          const std::size_t j = reverse(low, tile) << high_shift | other << tile | reverse(high, tile);
          if (other != middle || i < j) exchange_elements<F>(data + i * W, data + j * W);
        }
      }
    }
  });
}

}  // namespace cuzk::avx2
