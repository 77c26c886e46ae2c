// Transforms on the domain and its cosets, and the quotient of snarkjs.
#include "ntt.hpp"

#include "abi.hpp"

namespace cuzk {
namespace {

template <class C>
void check_size(int log_n) {
  if (log_n < 0 || log_n > C::two_adicity) throw std::invalid_argument("no domain of this size");
}

template <class F>
fe<F> inverse_of_size(int log_n) {
  fe<F> n = fe<F>::one();
  for (int i = 0; i < log_n; i++) n = twice(n);
  return inverse(n);
}

// Evaluations on the domain to evaluations on the coset.
template <class C>
void move_to_coset(const engine& engine, curve_id curve, u64* values, int log_n, int threads) {
  using F = typename C::fr;
  engine.ntt(curve, values, log_n, true, threads);
  scale_by_powers(reinterpret_cast<fe<F>*>(values), std::size_t(1) << log_n, inverse_of_size<F>(log_n),
                  coset_shift<C>(log_n), threads);
  engine.ntt(curve, values, log_n, false, threads);
}

template <class F>
void multiply_pointwise(const fe<F>* a, const fe<F>* b, fe<F>* out, std::size_t n, int threads) {
  parallel_ranges(threads, n, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) out[i] = a[i] * b[i];
  });
}

}  // namespace

void engine::quotient(curve_id curve, std::uint64_t* a, std::uint64_t* b, int log_n, std::uint64_t* h,
                      int threads) const {
  with_curve(curve, [&]<class C>() {
    using F = typename C::fr;
    auto *fa = reinterpret_cast<fe<F>*>(a), *fb = reinterpret_cast<fe<F>*>(b),
         *fh = reinterpret_cast<fe<F>*>(h);
    std::size_t n = std::size_t(1) << log_n;
    multiply_pointwise(fa, fb, fh, n, threads);
    for (std::uint64_t* values : {a, b, h}) move_to_coset<C>(*this, curve, values, log_n, threads);
    parallel_ranges(threads, n, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) fh[i] = from_montgomery(fa[i] * fb[i] - fh[i]);
    });
  });
}

}  // namespace cuzk

using namespace cuzk;

// data: 2^log_n elements of Fr in Montgomery form, in place. `shift` is plain, or null for the domain itself.
CUZK_EXPORT int cuzk_ntt(int curve, u64* data, int log_n, int inverse_direction, const u64* shift,
                         int threads) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() {
      using F = typename C::fr;
      check_size<C>(log_n);
      auto* values = reinterpret_cast<fe<F>*>(data);
      std::size_t n = std::size_t(1) << log_n;
      fe<F> factor = shift == nullptr ? fe<F>::one() : to_montgomery(fe<F>::load(shift));
      if (factor.is_zero()) throw std::invalid_argument("a coset shift is not zero");
      if (!inverse_direction && shift != nullptr) scale_by_powers(values, n, fe<F>::one(), factor, threads);
      selected_engine().ntt(curve_id{curve}, data, log_n, inverse_direction != 0, threads);
      if (inverse_direction) scale_by_powers(values, n, inverse_of_size<F>(log_n), inverse(factor), threads);
    });
  });
}

// a, b: evaluations on the domain, destroyed; h: plain.
CUZK_EXPORT int cuzk_quotient(int curve, u64* a, u64* b, int log_n, u64* h, int threads) {
  return guarded([&] {
    with_curve(curve_id{curve}, [&]<class C>() { check_size<C>(log_n); });
    selected_engine().quotient(curve_id{curve}, a, b, log_n, h, threads);
  });
}
