// What the translation units of this engine make for engine.cpp; each compiles the templates of one curve.
#pragma once
#include <memory>

#include "engine.hpp"
#include "prepared_scalars.hpp"

namespace cuzk::avx2 {

// Points of this engine. The window (2 to 16 bits a digit) can be given, which only tests do.
struct window_bases : bases {
  virtual void multiply_with_window(const u64* scalars, std::size_t n, u64* out, int window,
                                    int threads) const = 0;
  // Which points are infinity.
  virtual const std::vector<bool>& infinite() const = 0;
  // Scalars for these points and for all bases with the same points at infinity and the same multiples.
  virtual std::unique_ptr<prepared_scalars> prepare(const u64* scalars, std::size_t n, int threads) const = 0;
  virtual const multiples& table() const = 0;
  // Whether the other's prepared scalars serve here.
  virtual bool shares_scalars(const window_bases& other) const = 0;
  // With scalars that were prepared for the same points at infinity.
  virtual void multiply_prepared(const prepared_scalars&, const u64* scalars, u64* out,
                                 int threads) const = 0;
};

using point_arrays = std::span<const point_array>;

// The points of all arrays, end to end. Where `memory` is given, they live in its present scope and must not
// outlive it.
std::unique_ptr<window_bases> load_bn254(group_id, point_arrays, int threads, arena* memory,
                                         const array_release& release);
std::unique_ptr<window_bases> load_bls12_381(group_id, point_arrays, int threads, arena* memory,
                                             const array_release& release);
inline std::unique_ptr<window_bases> load_points(curve_id curve, group_id group, point_arrays arrays,
                                                 int threads, arena* memory = nullptr,
                                                 const array_release& release = {}) {
  const auto load = curve == curve_id::bn254 ? load_bn254 : load_bls12_381;
  return load(group, arrays, threads, memory, release);
}

// See the engine.
multiples choose_multiples(curve_id, group_id, std::size_t n, int rows);
void build_table(curve_id, group_id, point_arrays, const multiples&, u64* out, int threads);
std::unique_ptr<window_bases> open_table(curve_id, group_id, const u64* table, std::size_t n,
                                         const multiples&);
void multiply_all(std::span<const bases* const> all, const u64* scalars, std::size_t n,
                  std::span<u64* const> outs, int threads, const std::function<void(std::size_t)>& done);
// The parts of these in the translation units of the curves.
void build_table_bn254(group_id, point_arrays, const multiples&, u64* out, int threads);
void build_table_bls12_381(group_id, point_arrays, const multiples&, u64* out, int threads);
std::unique_ptr<window_bases> open_table_bn254(group_id, const u64* table, std::size_t n, const multiples&);
std::unique_ptr<window_bases> open_table_bls12_381(group_id, const u64* table, std::size_t n,
                                                   const multiples&);

// See engine::add_up.
void add_up(curve_id, std::span<const point_sum> sums, const u64* scalars, int threads,
            const array_release& release);

// The smallest transforms of this engine.
int least_log_n();
void ntt(curve_id, u64* data, int log_n, bool inverse, int threads);
// From natural to bit-reversed order, as proofs use it.
void ntt_to_reversed(curve_id, u64* data, int log_n, int threads);
void quotient(curve_id, u64* a, u64* b, int log_n, u64* h, int threads);

}  // namespace cuzk::avx2
