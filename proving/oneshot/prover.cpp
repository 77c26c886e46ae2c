#include "prover.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "cuzk.hpp"
#include "dispatch.hpp"
#include "inverse.hpp"
#include "key.hpp"
#include "prepared.hpp"

namespace cuzk::oneshot {

namespace {

constexpr std::size_t scalar_words = 4;

void succeed(int status) {
  if (status == 0) return;
  if (status == out_of_memory_status) throw std::bad_alloc();
  throw unusual{};
}

int thread_count(int wanted) {
  cpu_set_t allowed;
  if (wanted > 0) return wanted;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

template <class C>
class prover {
  using F = typename C::fr;
  using G1 = group_of<C, 1>;
  using G2 = group_of<C, 2>;
  using sum1 = xyzz<typename G1::coordinate>;
  using sum2 = xyzz<typename G2::coordinate>;

  const proving_key& key_;
  const prepared_key* prepared_;
  const int threads_;
  stopwatch& watch_;
  words scalars_;  // the witness, then the scalars of the H query; plain
  typename G1::point a_, b1_, c_and_h_;
  typename G2::point b2_;

 public:
  // prepared: null where there are no multiples.
  prover(const proving_key& key, const prepared_key* prepared, int threads, stopwatch& watch)
      : key_(key),
        prepared_(prepared),
        threads_(threads),
        watch_(watch),
        scalars_(scalar_words * (key.wires + key.domain())) {}

  statement run(const std::string& wtns) {
    read_witness(key_, wtns, scalars_.at(0));
    watch_.end("witness");
    find_quotient();
    if (prepared_) {
      multiply_prepared();
    } else {
      add_up();
    }
    return finish();
  }

 private:
  void find_quotient() {
    const std::size_t count = key_.coefficient_count();
    words a(scalar_words * key_.domain()), b(scalar_words * key_.domain());
    std::size_t bad = 0;
    succeed(cuzk_constraints_evaluate(int(key_.curve), key_.coefficients().data() + 4, count, scalars_.at(0),
                                      key_.wires, key_.domain(), a.at(0), b.at(0), threads_, &bad));
    require(bad == count);
    key_.file.forget(key_.coefficients());
    watch_.end("evaluate");
    succeed(cuzk_quotient(int(key_.curve), a.at(0), b.at(0), key_.log_domain,
                          scalars_.at(scalar_words * key_.wires), threads_));
    watch_.end("quotient");
  }

  // C and H are only ever added, and their scalars stand one behind the other: one sum, with wider windows
  // than two would have.
  void add_up() {
    sum({array(query::c, group_id::g1, key_.private_count()), array(query::h, group_id::g1, key_.domain())},
        scalar_words * (key_.public_count + 1), c_and_h_);
    watch_.end("c+h");
    const auto a = array(query::a, group_id::g1, key_.wires);
    const auto b1 = array(query::b1, group_id::g1, key_.wires);
    const auto b2 = array(query::b2, group_id::g2, key_.wires);
    u64 outs[2][G1::words], out2[G2::words];
    const point_sum sums[] = {
        {group_id::g1, {a}, outs[0]}, {group_id::g1, {b1}, outs[1]}, {group_id::g2, {b2}, out2}};
    selected_engine().add_up(key_.curve, sums, scalars_.at(0), threads_, releasing());
    a_ = G1::point::load(outs[0]);
    b1_ = G1::point::load(outs[1]);
    b2_ = G2::point::load(out2);
    watch_.end("a+b");
  }

  // The same sums over tables of multiples.
  void multiply_prepared() {
    u64 outs[3][G1::words], out2[G2::words];
    const std::uint64_t* tail = scalars_.at(scalar_words * (key_.public_count + 1));
    prepared_->at(table::c_and_h).multiply(tail, key_.private_count() + key_.domain(), outs[0], threads_);
    watch_.end("c+h");
    const bases* all[] = {&prepared_->at(table::a), &prepared_->at(table::b1), &prepared_->at(table::b2)};
    u64* const results[] = {outs[1], outs[2], out2};
    selected_engine().multiply_all(all, scalars_.at(0), key_.wires, results, threads_, [](std::size_t) {});
    c_and_h_ = G1::point::load(outs[0]);
    a_ = G1::point::load(outs[1]);
    b1_ = G1::point::load(outs[2]);
    b2_ = G2::point::load(out2);
    watch_.end("a+b");
  }

  point_array array(query number, group_id group, std::size_t count) const {
    return {key_.points(number, group, count).data(), count};
  }
  void sum(std::vector<point_array> arrays, std::size_t first_word, typename G1::point& result) const {
    u64 out[G1::words];
    const point_sum wanted{group_id::g1, std::move(arrays), out};
    selected_engine().add_up(key_.curve, {&wanted, 1}, scalars_.at(first_word), threads_, releasing());
    result = G1::point::load(out);
  }
  array_release releasing() const {
    return [this](const point_array& array) {
      for (query number : {query::a, query::b1, query::b2, query::c, query::h}) {
        const bytes section = key_.file.section(static_cast<std::uint32_t>(number));
        if (section.data() == array.points) key_.file.forget(section);
      }
    };
  }

  // The formulas of proving/groth16/assembly.py; s A holds r s delta once and s r delta is taken off again
  // by leaving it out of r B1.
  statement finish() const {
    const number r = draw(), s = draw();
    const auto scaled = [](const auto& point, const number& scalar) {
      return multiply(point, scalar.data(), int(scalar_words));
    };
    const auto a = to_affine(add(add(scaled(load1(key_.delta1), r), load1(key_.alpha1)), a_));
    const auto b = to_affine(add(add(scaled(load2(key_.delta2), s), load2(key_.beta2)), b2_));
    const auto b1 = to_affine(add(lift(b1_), load1(key_.beta1)));
    const auto c = to_affine(add(add(scaled(a, s), scaled(b1, r)), c_and_h_));
    watch_.end("assemble");
    require(verifies(a, b, c));
    watch_.end("verify");
    return {key_.curve, plain<G1>(a), plain<G2>(b), plain<G1>(c), public_signals()};
  }

  static typename G1::point load1(const std::uint8_t* at) { return load<G1>(at); }
  static typename G2::point load2(const std::uint8_t* at) { return load<G2>(at); }
  template <class G>
  static typename G::point load(const std::uint8_t* at) {
    u64 aligned[G::words];
    std::memcpy(aligned, at, sizeof aligned);
    return G::point::load(aligned);
  }

  // Uniform below r, from the operating system.
  static number draw() {
    for (;;) {
      number drawn{};
      if (getentropy(drawn.data(), 8 * scalar_words) != 0) throw unusual{};
      drawn[scalar_words - 1] >>= 64 * scalar_words - F::bits;
      if (is_canonical<F>(drawn.data())) return drawn;
    }
  }

  // e(A, B) = e(alpha, beta) e(IC(x), gamma) e(C, delta), all in their groups.
  bool verifies(const typename G1::point& a, const typename G2::point& b, const typename G1::point& c) const {
    const std::size_t count = key_.public_count + 1;
    typename G1::point inputs;
    u64 out[G1::words];
    const point_sum wanted{group_id::g1, {array(query::ic, group_id::g1, count)}, out};
    selected_engine().add_up(key_.curve, {&wanted, 1}, scalars_.at(0), threads_, {});
    inputs = G1::point::load(out);
    const typename G1::point left[] = {a, negate(load1(key_.alpha1)), negate(inputs), negate(c)};
    const typename G2::point right[] = {b, load2(key_.beta2), load2(key_.gamma2), load2(key_.delta2)};
    u64 g1[4 * G1::words], g2[4 * G2::words], product[12 * C::fq::words];
    for (int i = 0; i < 4; i++) {
      left[i].store(g1 + i * G1::words);
      right[i].store(g2 + i * G2::words);
    }
    int is_one = 0;
    std::size_t bad = 0;
    succeed(cuzk_pairing_product(int(key_.curve), reinterpret_cast<const std::uint8_t*>(g1),
                                 reinterpret_cast<const std::uint8_t*>(g2), 4, product, &is_one, &bad));
    return bad == 4 && is_one != 0;
  }

  template <class G>
  static coordinates plain(const typename G::point& point) {
    using Q = typename C::fq;
    u64 stored[G::words];
    point.store(stored);
    coordinates result(G::words / Q::words);
    for (std::size_t i = 0; i < result.size(); i++)
      from_montgomery(fe<Q>::load(stored + i * Q::words)).store(result[i].data());
    return result;
  }
  std::vector<number> public_signals() const {
    std::vector<number> signals(key_.public_count);
    for (std::size_t i = 0; i < signals.size(); i++)
      std::memcpy(signals[i].data(), scalars_.at(scalar_words * (i + 1)), 8 * scalar_words);
    return signals;
  }
};

}  // namespace

statement prove(const request& wanted, stopwatch& watch) {
  const proving_key key(wanted.zkey);
  const auto prepared = prepared_key::find(key, wanted.zkey);
  watch.end("key");
  return with_curve(key.curve, [&]<class C>() {
    const int threads = thread_count(wanted.threads);
    if (prepared) {
      try {
        return prover<C>(key, prepared.get(), threads, watch).run(wanted.wtns);
      } catch (const unusual&) {
        // Perhaps the multiples are spoilt; the key has the word.
      }
    }
    return prover<C>(key, nullptr, threads, watch).run(wanted.wtns);
  });
}

}  // namespace cuzk::oneshot
