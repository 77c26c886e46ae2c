// The engine that runs everywhere.
#include "dispatch.hpp"
#include "msm.hpp"
#include "ntt.hpp"

namespace cuzk {
namespace {

struct portable final : engine {
  const char* name() const override { return "portable"; }

  std::unique_ptr<bases> load_bases(curve_id curve, group_id group, const std::uint8_t* points, std::size_t n,
                                    int) const override {
    return with_group(curve, group, [&]<class Group>() -> std::unique_ptr<bases> {
      return std::make_unique<bucket_bases<Group>>(points, n);
    });
  }

  void ntt(curve_id curve, std::uint64_t* data, int log_n, bool inverse, int threads) const override {
    with_curve(curve, [&]<class C>() { transform<C>(data, log_n, inverse, threads); });
  }
};

}  // namespace

const engine& portable_engine() {
  static const portable instance;
  return instance;
}

}  // namespace cuzk
