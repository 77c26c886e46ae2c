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
    bool owned;
    void operator()(u64* p) const {
      if (owned) std::free(p);
    }
  };

  std::size_t size_;
  std::unique_ptr<u64, free_memory> points_;  // vector Montgomery domain, canonical
  std::vector<bool> infinite_;
  multiples multiples_;

 public:
  packed_bases(point_arrays arrays, int threads, arena* memory, const array_release& release)
      : size_(total_size(arrays)),
        points_(take_memory(size_, memory), free_memory{memory == nullptr}),
        infinite_(size_) {
    convert_arrays(arrays, points_.get(), threads, release);
    find_infinities(threads);
  }

  // Points and their multiples that stay where they are.
  packed_bases(const u64* table, std::size_t n, const multiples& given)
      : size_(n),
        points_(const_cast<u64*>(table), free_memory{false}),  // only read
        infinite_(n),
        multiples_(given) {
    find_infinities(1);
  }

  static void build_table(point_arrays arrays, const multiples& wanted, u64* out, int threads) {
    const std::size_t n = total_size(arrays);
    convert_arrays(arrays, out, threads, {});
    constexpr std::size_t block = 1024;
    parallel_tasks(threads, (n + block - 1) / block, [&](std::size_t task) {
      fill_multiples(wanted, n, task * block, std::min(n, (task + 1) * block), out);
    });
  }

  std::size_t bytes() const override { return size_ * point_bytes<C> + size_ / 8; }
  std::size_t size() const override { return size_; }

  const std::vector<bool>& infinite() const override { return infinite_; }

  void multiply(const u64* scalars, std::size_t n, u64* out, int threads) const override {
    multiply_prepared(*prepare(scalars, n, threads), scalars, out, threads);
  }

  // What an addition costs in G1 decides: the ratios are alike in G2, and both groups shall share.
  std::unique_ptr<prepared_scalars> prepare(const u64* scalars, std::size_t n, int threads) const override {
    return std::make_unique<prepared_scalars>(scalars, n, infinite_, coordinates_of<Curve, 1>::costs,
                                              multiples_, threads);
  }

  bool shares_scalars(const window_bases& other) const override {
    return infinite_ == other.infinite() && multiples_ == other.table();
  }

  const multiples& table() const override { return multiples_; }

  void multiply_with_window(const u64* scalars, std::size_t n, u64* out, int window,
                            int threads) const override {
    sum(prepared_scalars(scalars, n, infinite_, window, threads), out, threads);
  }

  void multiply_prepared(const prepared_scalars& prepared, const u64* scalars, u64* out,
                         int threads) const override {
    constexpr std::size_t few = C::words == 4 ? 64 : 24;  // fewer points fill no vectors
    const selection& selected = prepared.selected;
    if (selected.entry_count() + selected.one_count < few) return multiply_few(selected, scalars, out);
    sum(prepared, out, threads);
  }

 private:
  static std::size_t total_size(point_arrays arrays) {
    std::size_t total = 0;
    for (const point_array& array : arrays) total += array.size;
    return total;
  }

  void find_infinities(int threads) {
    constexpr std::size_t group = 64;  // as many flags share a word
    parallel_ranges(threads, (size_ + group - 1) / group, 32, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = group * from; i < std::min(size_, group * to); i++)
        infinite_[i] = is_infinity<C>(points_.get() + i * PW);
    });
  }

  // Rows 1 and up of the points [from, to) of a table of n.
  static void fill_multiples(const multiples& wanted, std::size_t n, std::size_t from, std::size_t to,
                             u64* table) {
    arena_lease lease(arena_use::scratch);
    arena::scope scope(*lease);
    batch_adder<C> adder(*lease, bucket_filler<C>::adder_capacity);
    auto* points = (*lease).take<u64>((to - from) * PW);
    std::vector<std::size_t> places;
    for (std::size_t i = from; i < to; i++) {
      if (is_infinity<C>(table + i * PW)) continue;
      std::memcpy(points + places.size() * PW, table + i * PW, point_bytes<C>);
      places.push_back(i);
    }
    for (int row = 1; row < wanted.rows; row++) {
      u64* out = table + row * n * PW;
      for (int bit = 0; bit < wanted.window * wanted.sets; bit++) adder.double_points(points, places.size());
      std::memset(out + from * PW, 0, (to - from) * point_bytes<C>);
      for (std::size_t k = 0; k < places.size(); k++)
        std::memcpy(out + places[k] * PW, points + k * PW, point_bytes<C>);
    }
  }

  static void convert_arrays(point_arrays arrays, u64* out, int threads, const array_release& release) {
    for (const point_array& array : arrays) {
      convert_array(array, out, threads);
      if (release) release(array);
      out += array.size * PW;
    }
  }

  static void convert_array(const point_array& array, u64* out, int threads) {
    parallel_ranges(threads, (array.size + 3) / 4, 512, [&](std::size_t from, std::size_t to) {
      const std::size_t end = std::min(array.size, 4 * to);
      for (std::size_t i = 4 * from; i < end; i += 4)
        convert(array.points + i * point_bytes<C>, std::min<std::size_t>(4, array.size - i), out + i * PW);
    });
  }

  static u64* take_memory(std::size_t n, arena* memory) {
    if (n >> 31 != 0) throw std::bad_alloc();  // places in the sorted order are 31 bits and a sign
    if (memory != nullptr) return memory->take<u64>(n * PW);
    const std::size_t bytes = (n * point_bytes<C> + 63) & ~std::size_t{63};
    auto* taken = static_cast<u64*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64)));
    if (taken == nullptr) throw std::bad_alloc();
    return taken;
  }

  void sum(const prepared_scalars& prepared, u64* out, int threads) const {
    arena_lease lease;
    arena::scope scope(*lease);
    to_affine(bucket_method<C>(points_.get(), prepared, *lease, threads).run()).store(out);
  }

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
