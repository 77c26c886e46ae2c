// The seam between the C ABI and the engines that do the heavy work.
//
// An engine is compiled for one instruction set and chosen at run time. All numbers are little-endian
// 64-bit words. "Montgomery" means R = 2^(64 words of the field); an affine point is x | y (G2: c0 | c1
// of each), all words zero is infinity. Memory may be unaligned where it is given as bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace cuzk {

enum class curve_id : int { bn254 = 0, bls12_381 = 1 };
enum class group_id : int { g1 = 1, g2 = 2 };

// Points in an engine's own format.
struct bases {
  virtual ~bases() = default;
  virtual std::size_t bytes() const = 0;
  virtual std::size_t size() const = 0;
  // sum of scalars[i] points[i]; scalars: n x 4 plain words, n <= size(); out: affine, Montgomery.
  virtual void multiply(const std::uint64_t* scalars, std::size_t n, std::uint64_t* out,
                        int threads) const = 0;
};

// Points in the caller's format: affine, Montgomery.
struct point_array {
  const std::uint8_t* points;
  std::size_t size;
};

// One sum over points that are used once: those of all arrays, end to end.
struct point_sum {
  group_id group;
  std::vector<point_array> arrays;
  std::uint64_t* out;  // affine, Montgomery

  std::size_t size() const {
    std::size_t total = 0;
    for (const point_array& array : arrays) total += array.size;
    return total;
  }
};

// Called with each array as soon as it is not read any more.
using array_release = std::function<void(const point_array&)>;

// Rows of multiples of the same points: row k holds 2^(window sets k) times each, for digits of `window`
// bits.
struct multiples {
  int window = 0, sets = 0, rows = 1;

  bool operator==(const multiples&) const = default;
};

struct engine {
  virtual ~engine() = default;
  virtual const char* name() const = 0;
  // points: n affine points, Montgomery.
  virtual std::unique_ptr<bases> load_bases(curve_id, group_id, const std::uint8_t* points, std::size_t n,
                                            int threads) const = 0;
  // Every sum of scalars[i] points[i], all of one size and over the same scalars (n x 4 plain words), which
  // are cut and sorted once where the engine can; less memory than loading all bases first.
  virtual void add_up(curve_id, std::span<const point_sum> sums, const std::uint64_t* scalars, int threads,
                      const array_release& release) const;
  // As bases::multiply for bases of one curve and size over the same scalars, which are cut and sorted once
  // where the engine can. done(k) is called after the k-th.
  virtual void multiply_all(std::span<const bases* const>, const std::uint64_t* scalars, std::size_t n,
                            std::span<std::uint64_t* const> outs, int threads,
                            const std::function<void(std::size_t)>& done) const;
  // The multiples with which this engine multiplies n points by long scalars fastest; it has none where
  // `rows` comes back as 1.
  virtual multiples choose_multiples(curve_id, group_id, std::size_t n, int rows) const;
  // Fills out with the rows of multiples of the points of all arrays, end to end, in the engine's own format:
  // as many bytes as the points take in the caller's, times rows.
  virtual void build_table(curve_id, group_id, std::span<const point_array>, const multiples&,
                           std::uint64_t* out, int threads) const;
  // Points that stay where such a table is.
  virtual std::unique_ptr<bases> open_table(curve_id, group_id, const std::uint64_t* table, std::size_t n,
                                            const multiples&) const;
  // In place, natural order in and out, data Montgomery (or any representation that is linear), 2^log_n
  // elements of Fr, no scaling by 1/n.
  virtual void ntt(curve_id, std::uint64_t* data, int log_n, bool inverse, int threads) const = 0;
  // a, b: Montgomery evaluations on the domain, destroyed; h: a'b' - c' on the odd coset, plain, c = a b.
  virtual void quotient(curve_id, std::uint64_t* a, std::uint64_t* b, int log_n, std::uint64_t* h,
                        int threads) const;
};

const engine& portable_engine();
const engine* avx2_engine();  // nullptr where CPU or build lack it

// The engine of this process: the one that select_engine chose, or else the one that the environment
// variable CUZKWEB_ENGINE names (portable, avx2, auto), or else the fastest that there is.
// Throws std::runtime_error when the named engine is unknown or unavailable.
const engine& selected_engine();
void select_engine(std::string_view name);

}  // namespace cuzk
