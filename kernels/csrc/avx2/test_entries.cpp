// What tests and benchmarks reach inside of this engine. No program calls these.
#include <array>
#include <memory>

#include "abi.hpp"
#include "factories.hpp"
#include "packed.hpp"

namespace cuzk::avx2 {
namespace {

// Operands and result: limbs x 4 lanes.
using lanes = const std::int64_t*;

template <class F>
quad<F> load_limbs(lanes limbs) {
  quad<F> x;
  for (int j = 0; j < F::limbs; j++)
    x.limb[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(limbs + 4 * j));
  return x;
}
template <class F>
void store_limbs(std::int64_t* limbs, const quad<F>& x) {
  for (int j = 0; j < F::limbs; j++)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(limbs + 4 * j), x.limb[j]);
}

enum class operation : int {
  product,
  product_sum,
  square,
  product_plus,
  reduced,
  normalised,
  canonical,
  packed
};

template <class F>
quad<F> apply(operation op, lanes const* operands) {
  const quad<F> a = load_limbs<F>(operands[0]), b = load_limbs<F>(operands[1]),
                c = load_limbs<F>(operands[2]), d = load_limbs<F>(operands[3]);
  switch (op) {
    case operation::product:
      return a * b;
    case operation::product_sum:
      return carried(product_sum(a, b, c, d));
    case operation::square:
      return carried(square(a));
    case operation::product_plus:
      return carried_reduced(product(a, b), c);
    case operation::reduced:
      return reduced(a);
    case operation::normalised:
      return normalised(a);
    case operation::canonical:
      return canonical(a);
    case operation::packed: {
      u64 words[4 * F::words];
      store(words, F::words, a);
      return load<F>(words, F::words);
    }
  }
  throw std::invalid_argument("unknown operation");
}

template <class F>
void apply_both_ways(operation op, lanes const* operands, std::int64_t* inlined, std::int64_t* out_of_line) {
  store_limbs(inlined, apply<F>(op, operands));
  store_limbs(out_of_line, apply<called<F>>(op, operands));
}

void require_engine() {
  if (avx2_engine() == nullptr) throw unavailable_engine("no AVX2");
}

}  // namespace
}  // namespace cuzk::avx2

using namespace cuzk;

// field: bn254 Fq, Fr, bls12-381 Fq, Fr. Operands: 4 arrays of limbs x 4 lanes, all present, read as needed.
CUZK_EXPORT int cuzk_avx2_apply(int field, int operation, const std::int64_t* const* operands,
                                std::int64_t* inlined, std::int64_t* out_of_line) {
  return guarded([&] {
    avx2::require_engine();
    auto op = avx2::operation{operation};
    switch (field) {
      case 0:
        return avx2::apply_both_ways<avx2::vector_bn254_fq>(op, operands, inlined, out_of_line);
      case 1:
        return avx2::apply_both_ways<avx2::vector_bn254_fr>(op, operands, inlined, out_of_line);
      case 2:
        return avx2::apply_both_ways<avx2::vector_bls12_381_fq>(op, operands, inlined, out_of_line);
      case 3:
        return avx2::apply_both_ways<avx2::vector_bls12_381_fr>(op, operands, inlined, out_of_line);
    }
    throw std::invalid_argument("unknown field");
  });
}

// sum of scalars[i] points[i] with windows of so many bits (2 to 16).
CUZK_EXPORT int cuzk_avx2_multiply(int curve, int group, const std::uint8_t* points, const u64* scalars,
                                   std::size_t n, int window, int threads, u64* out) {
  return guarded([&] {
    avx2::require_engine();
    if (window < 2 || window > 16) throw std::invalid_argument("no such window");
    const point_array array{points, n};
    avx2::load_points(curve_id{curve}, group_id{group}, {&array, 1}, threads)
        ->multiply_with_window(scalars, n, out, window, threads);
  });
}

// A transform from natural to bit-reversed order, in place.
CUZK_EXPORT int cuzk_avx2_transform(int curve, u64* data, int log_n, int threads) {
  return guarded([&] {
    avx2::require_engine();
    if (log_n < avx2::least_log_n()) throw std::invalid_argument("too small a transform");
    avx2::ntt_to_reversed(curve_id{curve}, data, log_n, threads);
  });
}
