// The AVX2 engine: what the seam asks for, from the templates of this folder.
//
// Files here are compiled for AVX2 and BMI2, the rest of the library for any x86-64, and it must stay
// possible to load it on a CPU without them. Everything here is in namespace cuzk::avx2 and reached through
// this engine alone, after the test below. What is left are inline functions and templates of shared headers
// and of the standard library, which both sides emit under one name: CMakeLists.txt therefore links the files
// of this folder into one object first and hides all its names but the entries, so that each side keeps its
// own copies. No object of static storage here needs code to be initialised. A test disassembles the library
// and finds no AVX instruction within reach of the portable code.
#include "engine.hpp"

#include "factories.hpp"

namespace cuzk {

namespace avx2 {
namespace {

class avx2_implementation final : public engine {
 public:
  const char* name() const override { return "avx2"; }

  std::unique_ptr<bases> load_bases(curve_id curve, group_id group, const std::uint8_t* points, std::size_t n,
                                    int threads) const override {
    const point_array array{points, n};
    return load_points(curve, group, {&array, 1}, threads);
  }

  void add_up(curve_id curve, std::span<const point_sum> sums, const std::uint64_t* scalars, int threads,
              const array_release& release) const override {
    avx2::add_up(curve, sums, scalars, threads, release);
  }

  void multiply_all(std::span<const bases* const> all, const std::uint64_t* scalars, std::size_t n,
                    std::span<std::uint64_t* const> outs, int threads,
                    const std::function<void(std::size_t)>& done) const override {
    avx2::multiply_all(all, scalars, n, outs, threads, done);
  }
  multiples choose_multiples(curve_id curve, group_id group, std::size_t n, int rows) const override {
    return avx2::choose_multiples(curve, group, n, rows);
  }
  void build_table(curve_id curve, group_id group, std::span<const point_array> arrays,
                   const multiples& wanted, std::uint64_t* out, int threads) const override {
    avx2::build_table(curve, group, arrays, wanted, out, threads);
  }
  std::unique_ptr<bases> open_table(curve_id curve, group_id group, const std::uint64_t* table, std::size_t n,
                                    const multiples& given) const override {
    return avx2::open_table(curve, group, table, n, given);
  }

  void ntt(curve_id curve, std::uint64_t* data, int log_n, bool inverse, int threads) const override {
    if (log_n < least_log_n()) return portable_engine().ntt(curve, data, log_n, inverse, threads);
    avx2::ntt(curve, data, log_n, inverse, threads);
  }

  void quotient(curve_id curve, std::uint64_t* a, std::uint64_t* b, int log_n, std::uint64_t* h,
                int threads) const override {
    if (log_n < least_log_n()) return engine::quotient(curve, a, b, log_n, h, threads);
    avx2::quotient(curve, a, b, log_n, h, threads);
  }
};

constinit const avx2_implementation instance;

}  // namespace
}  // namespace avx2

const engine* avx2_engine() {
  // Both builtins include whether the operating system saves the registers.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? &avx2::instance : nullptr;
}

}  // namespace cuzk
