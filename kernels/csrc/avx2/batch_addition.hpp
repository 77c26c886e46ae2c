// Many independent affine additions with one field inversion, four in each vector.
//
// Two passes over the pairs (Montgomery's trick): forward, the running product of the denominators x2 - x1;
// then one inversion; backward, each inverse from the product of the others. Special cases cost the common
// ones nothing: an operand with x = 0 (infinity is among them) or a product that vanishes (equal x somewhere)
// sends the batch to `run_special`, which sorts the pairs into kinds and runs each kind by itself.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "arena.hpp"
#include "coordinates.hpp"

namespace cuzk::avx2 {

// *sum = left + right. Bit 0 of an operand's address means: take its negative.
struct addition {
  std::uintptr_t left, right;
  u64* sum;
};

template <class C>
inline constexpr int point_words = 2 * C::words;
template <class C>
inline constexpr int point_bytes = 8 * point_words<C>;

[[gnu::always_inline]] inline std::uintptr_t tagged(const u64* point, bool negative) {
  return reinterpret_cast<std::uintptr_t>(point) | static_cast<std::uintptr_t>(negative);
}
[[gnu::always_inline]] inline const u64* untagged(std::uintptr_t operand) {
  return reinterpret_cast<const u64*>(operand & ~std::uintptr_t{1});
}

template <class C>
[[gnu::always_inline]] inline bool is_infinity(const u64* point) {
  u64 any = 0;
  for (int i = 0; i < point_words<C>; i++) any |= point[i];
  return any == 0;
}

// A point in scalar arithmetic but still in the vector Montgomery domain: good for comparisons and signs.
template <class C>
affine<typename C::scalar> canonical_point(std::uintptr_t operand) {
  using F = typename C::field;
  const u64* words = untagged(operand);
  u64 reduced[point_words<C>];
  for (int i = 0; i < point_words<C>; i += F::words)
    reduce_once<typename F::scalar>(words + i).store(reduced + i);
  auto point = affine<typename C::scalar>::load(reduced);
  return operand & 1 ? negate(point) : point;
}

template <class C>
class batch_adder {
  using F = typename C::field;
  using element = typename C::element;
  enum class kind { any, distinct, doubling };  // any: may turn out to be special; distinct: x1 != x2
  struct entry {
    quad<F> norm, product;  // of this group's denominators, and of all those before
  };
  static constexpr int prefetch_groups = 3;  // further ahead was slower: the first-level cache is small

  int capacity_;
  entry* entries_;
  addition *queue_, *special_;
  u64* unused_;  // where the sums of padding go
  int pending_ = 0;

 public:
  batch_adder(arena& memory, int capacity)
      : capacity_(capacity),
        entries_(memory.take<entry>(capacity / 4 + 1)),
        queue_(memory.take<addition>(capacity + 4)),
        special_(memory.take<addition>(2 * (capacity + 4))),
        unused_(memory.take<u64>(point_words<C>)) {}

  // Queues an addition; all the queued ones are done when the queue is full or flushed.
  template <bool Signed>
  [[gnu::always_inline]] void push(const addition& next) {
    queue_[pending_++] = next;
    if (pending_ == capacity_) flush<Signed>();
  }
  // Doubles points in place; none may be infinity.
  void double_points(u64* points, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
      u64* point = points + i * point_words<C>;
      queue_[pending_++] = {tagged(point, false), tagged(point, false), point};
      if (pending_ == capacity_ || i + 1 == count) {
        run<false, kind::doubling>(queue_, pending_);
        pending_ = 0;
      }
    }
  }
  // Signed: whether operands may carry the sign bit.
  template <bool Signed>
  [[gnu::noinline]] void flush() {
    int count = pending_;
    pending_ = 0;
    if (count != 0 && !run<Signed, kind::any>(queue_, count)) run_special(queue_, count);
  }

 private:
  // The operands of four additions.
  struct group {
    const u64 *left[4], *right[4];
    u64* sum[4];
    [[gnu::always_inline]] explicit group(const addition* additions) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) {
        left[k] = untagged(additions[k].left);
        right[k] = untagged(additions[k].right);
        sum[k] = additions[k].sum;
      }
    }
  };
  [[gnu::always_inline]] static __m256i signs(std::uintptr_t p0, std::uintptr_t p1, std::uintptr_t p2,
                                              std::uintptr_t p3) {
    __m256i bits = _mm256_set_epi64x((long long)p3, (long long)p2, (long long)p1, (long long)p0);
    return _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(bits, splat(1)));
  }
  template <bool Signed>
  [[gnu::always_inline]] static element load_left_y(const addition* a, const group& g) {
    element y = C::load(g.left, C::words);
    return Signed ? C::negate_where(y, signs(a[0].left, a[1].left, a[2].left, a[3].left)) : y;
  }
  template <bool Signed>
  [[gnu::always_inline]] static element load_right_y(const addition* a, const group& g) {
    element y = C::load(g.right, C::words);
    return Signed ? C::negate_where(y, signs(a[0].right, a[1].right, a[2].right, a[3].right)) : y;
  }
  [[gnu::always_inline]] static void prefetch(const addition* additions) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      for (int line = 0; line < point_words<C>; line += 8) {
        __builtin_prefetch(untagged(additions[k].left) + line);
        __builtin_prefetch(untagged(additions[k].right) + line);
      }
    }
  }

  // Does all the additions, or, where a pair is not what Kind promises, none and returns false.
  // There must be room for three more additions behind the last.
  template <bool Signed, kind Kind>
  bool run(addition* additions, int count) {
    const int padded = (count + 3) & ~3;
    for (int i = count; i < padded; i++) additions[i] = {additions[0].left, additions[0].right, unused_};
    quad<F> product;
    if (!pass_forward<Signed, Kind>(additions, padded / 4, product)) return false;
    quad<F> inverse;
    if (!invert_lanes(inverse, product)) return false;
    pass_backward<Signed, Kind>(additions, padded / 4, inverse);
    return true;
  }

  template <bool Signed, kind Kind>
  [[gnu::always_inline]] bool pass_forward(const addition* additions, int groups, quad<F>& product) {
    product = splat_element<F>(F::one);
    __m256i unsure = _mm256_setzero_si256();
    for (int i = 0; i < groups; i++) {
      const addition* a = additions + 4 * i;
      const group g(a);
      if (Signed && i + prefetch_groups < groups) prefetch(a + 4 * prefetch_groups);
      element denominator;
      if constexpr (Kind == kind::doubling) {
        denominator = C::tidy(C::twice(load_left_y<Signed>(a, g)));
      } else {
        __m256i left_zero, right_zero;
        element left_x = C::load(g.left, 0, left_zero), right_x = C::load(g.right, 0, right_zero);
        if constexpr (Kind == kind::any)
          unsure = _mm256_or_si256(unsure, _mm256_or_si256(left_zero, right_zero));
        denominator = C::subtract(right_x, left_x);
      }
      entry& e = entries_[i];
      e.norm = C::norm(denominator);
      e.product = product;
      product = product * e.norm;
    }
    return _mm256_testz_si256(unsure, unsure);
  }

  template <bool Signed, kind Kind>
  [[gnu::always_inline]] void pass_backward(const addition* additions, int groups, quad<F> inverse) {
    for (int i = groups; i-- > 0;) {
      const addition* a = additions + 4 * i;
      const group g(a);
      quad<F> mine = inverse * entries_[i].product;
      inverse = inverse * entries_[i].norm;
      element left_x = C::load(g.left, 0), left_y = load_left_y<Signed>(a, g);
      element right_x = left_x, slope;
      if constexpr (Kind == kind::doubling) {
        element denominator = C::tidy(C::twice(left_y));
        slope = C::multiply(C::thrice_square(left_x), C::invert(denominator, mine));
      } else {
        right_x = C::load(g.right, 0);
        element rise = C::subtract(load_right_y<Signed>(a, g), left_y);
        if (Signed) rise = C::tidy_signed(rise);
        slope = C::multiply(rise, C::invert(C::subtract(right_x, left_x), mine));
      }
      element x = C::square_subtract(slope, left_x, right_x);
      element y = C::multiply_subtract(slope, C::subtract(left_x, x), left_y);
      C::store(g.sum, 0, x);
      C::store(g.sum, C::words, y);
    }
  }

  template <int Pattern>
  [[gnu::always_inline]] static quad<F> permuted(const quad<F>& x) {
    quad<F> r;
#pragma GCC unroll 16
    for (int j = 0; j < F::limbs; j++) r.limb[j] = _mm256_permute4x64_epi64(x.limb[j], Pattern);
    return r;
  }
  // Inverts the 4 lanes with one inversion; false if one of them is zero.
  [[gnu::noinline]] static bool invert_lanes(quad<F>& inverse, const quad<F>& x) {
    quad<F> neighbours = permuted<0xb1>(x), pairs = x * neighbours, others = permuted<0x4e>(pairs);
    quad_words<F> w = pack(carried_reduced(product(pairs, others), quad<F>{}));
    u64 words[F::words], inverted[F::words];
    for (int i = 0; i < F::words; i++) words[i] = (u64)_mm256_extract_epi64(w.word[i], 0);
    fe<typename F::scalar> all = reduce_once<typename F::scalar>(words);
    if (all.is_zero()) return false;
    invert_plain<typename F::scalar>(all.w, inverted);
    quad<F> whole = splat_element<F>(inverted) * splat_element<F>(F::radix_cubed);
    inverse = whole * others * neighbours;
    return true;
  }

  // Settles what needs no arithmetic, doublings by themselves, the rest as usual.
  [[gnu::noinline]] void run_special(const addition* additions, int count) {
    addition *distinct = special_, *doubled = special_ + capacity_ + 4;
    int distinct_count = 0, doubled_count = 0;
    for (int i = 0; i < count; i++) {
      const addition& a = additions[i];
      auto left = canonical_point<C>(a.left), right = canonical_point<C>(a.right);
      if (left.is_infinity()) {
        right.store(a.sum);
      } else if (right.is_infinity()) {
        left.store(a.sum);
      } else if (!(left.x == right.x)) {
        distinct[distinct_count++] = a;
      } else if (left.y == right.y && !left.y.is_zero()) {
        doubled[doubled_count++] = a;
      } else {
        std::memset(a.sum, 0, point_bytes<C>);
      }
    }
    if (distinct_count != 0) run<true, kind::distinct>(distinct, distinct_count);
    if (doubled_count != 0) run<true, kind::doubling>(doubled, doubled_count);
  }
};

}  // namespace cuzk::avx2
