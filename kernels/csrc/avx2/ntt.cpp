#include "ntt.hpp"

#include <list>
#include <mutex>

#include "factories.hpp"
#include "inverse.hpp"

namespace cuzk::avx2 {

namespace {

template <class C>
struct vector_fr;
template <>
struct vector_fr<bn254> {
  using type = vector_bn254_fr;
};
template <>
struct vector_fr<bls12_381> {
  using type = vector_bls12_381_fr;
};

// What transforms of one size need: twiddles, and for the quotient the factors between its two transforms.
template <class C>
class domain {
  using F = typename vector_fr<C>::type;
  using scalar = fe<typename C::fr>;

  std::once_flag shift_once_;
  std::vector<u64> shift_;

 public:
  const int log_n;
  const transform<F> transforms;

  domain(int log_n, int threads) : log_n(log_n), transforms(log_n, root(log_n), threads) {}

  std::size_t bytes() const { return 3 * transforms.bytes(); }  // with the factors

  // At the bit-reversed position of k: shift^j / n for j = -k modulo n. Between the forward transform, which
  // leaves n times coefficient j there, and its undoing, which takes it as coefficient j, so that the
  // result is the polynomial's values on the coset.
  const std::vector<u64>& shift(int threads) {
    std::call_once(shift_once_, [&] {
      const scalar shift = coset_shift(), inverse_shift = inverse(shift);
      const scalar one_over_n = inverse(power(twice(scalar::one()), u64(log_n)));
      std::vector<scalar> factors(log_n);
      for (int k = 0; k < log_n; k++) factors[k] = power(inverse_shift, u64{1} << (log_n - 1 - k));
      const scalar start = one_over_n * power(shift, u64{1} << log_n);
      shift_ = transform<F>::subset_products(start, factors, threads);
      (one_over_n * scalar::load(F::one)).store(&shift_[0]);  // k = 0 is j = 0, not j = n
    });
    return shift_;
  }

 private:
  static scalar root(int log_n) {
    scalar w = scalar::load(C::root_of_unity);
    for (int i = log_n; i < C::two_adicity; i++) w = square(w);
    return w;
  }
  scalar coset_shift() const {
    return log_n == C::two_adicity ? scalar::load(C::widest_coset_shift) : root(log_n + 1);
  }
};

// The domains used last, most recent first.
template <class C>
std::shared_ptr<domain<C>> domain_of(int log_n, int threads) {
  constexpr std::size_t most_bytes = std::size_t{512} << 20;
  static std::mutex guard;
  static std::list<std::shared_ptr<domain<C>>> recent;
  std::lock_guard lock(guard);
  auto found = std::find_if(recent.begin(), recent.end(), [&](const auto& d) { return d->log_n == log_n; });
  if (found != recent.end()) {
    recent.splice(recent.begin(), recent, found);
  } else {
    recent.push_front(std::make_shared<domain<C>>(log_n, threads));
  }
  std::size_t total = 0;
  for (auto at = recent.begin(); at != recent.end();) {
    total += (*at)->bytes();
    at = at != recent.begin() && total > most_bytes ? recent.erase(at) : std::next(at);
  }
  return recent.front();
}

template <class C>
void ntt_of(u64* data, int log_n, bool inverse, int threads) {
  using F = typename vector_fr<C>::type;
  const auto d = domain_of<C>(log_n, threads);
  d->transforms.forward(data, threads);
  d->transforms.reverse_bits(data, threads);
  if (!inverse) return;
  // The inverse is the forward transform with elements i and -i exchanged.
  const std::size_t n = std::size_t{1} << log_n;
  parallel_ranges(threads, n / 2 - 1, 4096, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from + 1; i < to + 1; i++)
      exchange_elements<F>(data + i * F::words, data + (n - i) * F::words);
  });
}

// Calls work(i) for i = 0, 4, 8, .. n - 4.
template <class Work>
void for_quads(int threads, std::size_t n, const Work& work) {
  parallel_ranges(threads, n / 4, 1024, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = 4 * from; i < 4 * to; i += 4) work(i);
  });
}

template <class C>
void quotient_of(u64* a, u64* b, int log_n, u64* h, int threads) {
  using F = typename vector_fr<C>::type;
  constexpr int W = F::words;
  const auto d = domain_of<C>(log_n, threads);
  const std::size_t n = std::size_t{1} << log_n;
  auto at = [](u64* data, std::size_t i) { return load<F>(data + i * W, W); };

  // With R = 2^(64 words) outside and r here, products of two Montgomery forms are off by R^2 / r. That is
  // where c stays, and from where the last product takes everything to plain.
  for_quads(threads, n, [&](std::size_t i) {
    store(h + i * W, W, carried_reduced(product(at(a, i), at(b, i)), quad<F>{}));
  });
  for (u64* data : {a, b, h}) d->transforms.forward_scale_back(data, d->shift(threads).data(), threads);
  const u64 to_plain[W] = {u64{1} << 2 * (F::limbs * F::bits - 64 * W)};
  for_quads(threads, n, [&](std::size_t i) {
    quad<F> difference = at(a, i) * at(b, i) - at(h, i);
    quad<F> plain = carried_reduced(product(difference, splat_element<F>(to_plain)), quad<F>{});
    store(h + i * W, W, canonical(plain));
  });
}

}  // namespace

int least_log_n() {
  static_assert(transform<vector_bn254_fr>::least_log_n == transform<vector_bls12_381_fr>::least_log_n);
  return transform<vector_bn254_fr>::least_log_n;
}

void ntt(curve_id curve, u64* data, int log_n, bool inverse, int threads) {
  if (curve == curve_id::bn254) return ntt_of<bn254>(data, log_n, inverse, threads);
  ntt_of<bls12_381>(data, log_n, inverse, threads);
}

void ntt_to_reversed(curve_id curve, u64* data, int log_n, int threads) {
  if (curve == curve_id::bn254) return domain_of<bn254>(log_n, threads)->transforms.forward(data, threads);
  domain_of<bls12_381>(log_n, threads)->transforms.forward(data, threads);
}

void quotient(curve_id curve, u64* a, u64* b, int log_n, u64* h, int threads) {
  if (curve == curve_id::bn254) return quotient_of<bn254>(a, b, log_n, h, threads);
  quotient_of<bls12_381>(a, b, log_n, h, threads);
}

}  // namespace cuzk::avx2
