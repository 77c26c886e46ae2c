// The points of a key in the format of this engine.
#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "factories.hpp"
#include "msm.hpp"

namespace cuzk::avx2 {

// Points of group G (1 or 2) of a curve, packed for the vectors.
template <class Curve, int G>
class packed_bases final : public window_bases {
  using C = typename coordinates_of<Curve, G>::type;
  using F = typename C::field;
  static constexpr int PW = point_words<C>;
  static constexpr curve_id curve = std::is_same_v<Curve, bn254> ? curve_id::bn254 : curve_id::bls12_381;
  struct free_memory {
    void operator()(u64* p) const { std::free(p); }
  };

  std::size_t size_;
  std::unique_ptr<u64, free_memory> points_;  // vector Montgomery domain, canonical
  std::vector<bool> infinite_;

 public:
  packed_bases(const std::uint8_t* points, std::size_t n, int threads) : size_(n), infinite_(n) {
    if (n >> 31 != 0) throw std::bad_alloc();  // places in the sorted order are 31 bits and a sign
    const std::size_t bytes = (n * point_bytes<C> + 63) & ~std::size_t{63};
    points_.reset(static_cast<u64*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64))));
    if (!points_) throw std::bad_alloc();
    parallel_ranges(threads, (n + 3) / 4, 512, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = 4 * from; i < 4 * to; i += 4)
        convert(points + i * point_bytes<C>, std::min<std::size_t>(4, n - i), points_.get() + i * PW);
    });
    for (std::size_t i = 0; i < n; i++) infinite_[i] = is_infinity<C>(points_.get() + i * PW);
  }

  std::size_t bytes() const override { return size_ * point_bytes<C> + size_ / 8; }
  std::size_t size() const override { return size_; }

  void multiply(const u64* scalars, std::size_t n, u64* out, int threads) const override {
    constexpr std::size_t few = C::words == 4 ? 64 : 24;  // fewer points fill no vectors
    arena_lease lease;
    arena::scope scope(*lease);
    const selection selected = select_scalars(scalars, n, infinite_, *lease, threads);
    if (selected.entry_count() + selected.one_count < few) return multiply_few(selected, scalars, out);
    const int window = choose_window(selected, coordinates_of<Curve, G>::costs, threads);
    to_affine(bucket_method<C>(points_.get(), selected, scalars, window, *lease, threads).run()).store(out);
  }

  void multiply_with_window(const u64* scalars, std::size_t n, u64* out, int window,
                            int threads) const override {
    arena_lease lease;
    arena::scope scope(*lease);
    const selection selected = select_scalars(scalars, n, infinite_, *lease, threads);
    to_affine(bucket_method<C>(points_.get(), selected, scalars, window, *lease, threads).run()).store(out);
  }

 private:
  // Up to 4 points into the vector Montgomery domain; infinity stays all zero.
  static void convert(const std::uint8_t* in, std::size_t count, u64* out) {
    alignas(32) u64 four[4 * PW] = {};
    std::memcpy(four, in, count * point_bytes<C>);
    const quad<F> enter = splat_element<F>(F::enter);
    for (int i = 0; i < PW; i += F::words) {
      quad<F> x = carried_reduced(product(load<F>(four + i, PW), enter), quad<F>{});
      store(four + i, PW, canonical(x));
    }
    std::memcpy(out, four, count * point_bytes<C>);
  }

  // One by one, in the portable engine.
  void multiply_few(const selection& selected, const u64* scalars, u64* out) const {
    std::vector<u64> points, factors;
    auto take = [&](std::uint32_t i) {
      points.resize(points.size() + PW);
      to_scalar<C>(points_.get() + std::size_t{i} * PW).store(&points[points.size() - PW]);
      factors.insert(factors.end(), scalars + std::size_t{i} * 4, scalars + std::size_t{i} * 4 + 4);
    };
    std::for_each(selected.entries, selected.entries + selected.entry_count(), take);
    std::for_each(selected.ones, selected.ones + selected.one_count, take);
    const std::size_t count = factors.size() / 4;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(points.data());
    portable_engine()
        .load_bases(curve, group_id{G}, bytes, count, 1)
        ->multiply(factors.data(), count, out, 1);
  }
};

}  // namespace cuzk::avx2
