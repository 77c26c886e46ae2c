// The end of a multi-scalar multiplication whose windows were summed up elsewhere, as on a device.
#include "abi.hpp"

using namespace cuzk;

namespace {

template <class Group>
xyzz<typename Group::coordinate> load_sum(const u64* words) {
  using E = typename Group::coordinate;
  constexpr int coordinate = Group::words / 2;
  auto part = [&](int i) { return E::load(words + i * coordinate); };
  return {part(0), part(1), part(2), part(3)};
}

}  // namespace

// sums: `windows` XYZZ points of four coordinates in Montgomery form, infinity where zz is zero; out: the
// affine sum of 2^(width k) sums[k].
CUZK_EXPORT int cuzk_windows_combine(int curve, int group, const u64* sums, std::size_t windows, int width,
                                     u64* out) {
  return guarded([&] {
    if (width < 0) throw std::invalid_argument("a window has no negative width");
    with_group(curve_id{curve}, group_id{group}, [&]<class Group>() {
      auto total = xyzz<typename Group::coordinate>::infinity();
      for (std::size_t k = windows; k-- > 0;) {
        for (int i = 0; i < width; i++) total = double_point(total);
        total = add(total, load_sum<Group>(sums + k * 2 * Group::words));
      }
      to_affine(total).store(out);
    });
  });
}
