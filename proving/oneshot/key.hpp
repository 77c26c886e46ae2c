// The files of snarkjs that a proof is made from.
#pragma once
#include "engine.hpp"
#include "memory.hpp"

namespace cuzk::oneshot {

// Sections of a Groth16 zkey.
enum class query : std::uint32_t { ic = 3, a = 5, b1 = 6, b2 = 7, c = 8, h = 9 };

// A mapped zkey: sizes, and where its points are (affine, Montgomery, not aligned).
struct proving_key {
  section_file file;
  curve_id curve{};
  std::uint32_t wires = 0, public_count = 0;
  int log_domain = 0;
  const std::uint8_t *alpha1 = nullptr, *beta1 = nullptr, *beta2 = nullptr, *gamma2 = nullptr,
                     *delta1 = nullptr, *delta2 = nullptr;

  explicit proving_key(const std::string& path);

  std::size_t domain() const { return std::size_t{1} << log_domain; }
  std::size_t private_count() const { return wires - public_count - 1; }
  // Section 4: u32 count, then records of u32 matrix, u32 row, u32 wire and a coefficient.
  bytes coefficients() const;
  std::size_t coefficient_count() const { return read_u32(coefficients().data()); }
  // Checked to hold so many points of a group.
  bytes points(query, group_id, std::size_t count) const;
};

// Bytes of an affine point.
std::size_t point_size(curve_id, group_id);

// Copies the values of a wtns file to `out` (key.wires x 4 words): all below r, the first one 1.
void read_witness(const proving_key& key, const std::string& path, std::uint64_t* out);

}  // namespace cuzk::oneshot
