// Sums that share their scalars' digits, and points with multiples.
#include "coordinates.hpp"
#include "factories.hpp"

namespace cuzk::avx2 {

namespace {

// Prepared for one of the bases and kept while it serves the next.
class shared_scalars {
  const u64* scalars_;
  std::size_t count_;
  int threads_;
  std::unique_ptr<prepared_scalars> prepared_;

 public:
  shared_scalars(const u64* scalars, std::size_t n, int threads)
      : scalars_(scalars), count_(n), threads_(threads) {}

  // last: the bases of the call before, or null.
  void multiply(const window_bases& bases, const window_bases* last, u64* out) {
    if (last == nullptr || !bases.shares_scalars(*last)) {
      prepared_.reset();
      prepared_ = bases.prepare(scalars_, count_, threads_);
    }
    bases.multiply_prepared(*prepared_, scalars_, out, threads_);
  }
};

template <class Curve>
const addition_costs& costs_of(group_id group) {
  return group == group_id::g1 ? coordinates_of<Curve, 1>::costs : coordinates_of<Curve, 2>::costs;
}

}  // namespace

void add_up(curve_id curve, std::span<const point_sum> sums, const u64* scalars, int threads,
            const array_release& release) {
  if (sums.empty()) return;
  shared_scalars shared(scalars, sums.front().size(), threads);
  // Two in turn: what is known of the last points outlives their memory.
  std::unique_ptr<window_bases> last;
  for (const point_sum& sum : sums) {
    arena_lease lease;
    arena::scope scope(*lease);
    auto bases = load_points(curve, sum.group, sum.arrays, threads, &*lease, release);
    shared.multiply(*bases, last.get(), sum.out);
    last = std::move(bases);
  }
}

void multiply_all(std::span<const bases* const> all, const u64* scalars, std::size_t n,
                  std::span<u64* const> outs, int threads, const std::function<void(std::size_t)>& done) {
  shared_scalars shared(scalars, n, threads);
  const window_bases* last = nullptr;
  for (std::size_t k = 0; k < all.size(); k++) {
    const auto* next = static_cast<const window_bases*>(all[k]);
    shared.multiply(*next, last, outs[k]);
    last = next;
    done(k);
  }
}

multiples choose_multiples(curve_id curve, group_id group, std::size_t n, int rows) {
  const bool bn = curve == curve_id::bn254;
  return choose_multiples(bn ? bn254_fr::bits : bls12_381_fr::bits, n, rows,
                          bn ? costs_of<bn254>(group) : costs_of<bls12_381>(group));
}

void build_table(curve_id curve, group_id group, point_arrays arrays, const multiples& wanted, u64* out,
                 int threads) {
  const auto build = curve == curve_id::bn254 ? build_table_bn254 : build_table_bls12_381;
  build(group, arrays, wanted, out, threads);
}

std::unique_ptr<window_bases> open_table(curve_id curve, group_id group, const u64* table, std::size_t n,
                                         const multiples& given) {
  const auto open = curve == curve_id::bn254 ? open_table_bn254 : open_table_bls12_381;
  return open(group, table, n, given);
}

}  // namespace cuzk::avx2
