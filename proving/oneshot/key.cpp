#include "key.hpp"

#include <bit>
#include <cstring>

#include "dispatch.hpp"

namespace cuzk::oneshot {

namespace {

constexpr std::size_t scalar_bytes = 32, record_bytes = 12 + scalar_bytes;

// Whether a header's primes are those of a curve: u32 size and number, for q and for r.
template <class C>
bool has_primes(bytes header) {
  constexpr std::size_t q_size = 8 * C::fq::words, r_size = 8 * C::fr::words;
  return header.size() >= 8 + q_size + r_size && read_u32(header.data()) == q_size &&
         std::memcmp(header.data() + 4, C::fq::modulus, q_size) == 0 &&
         read_u32(header.data() + 4 + q_size) == r_size &&
         std::memcmp(header.data() + 8 + q_size, C::fr::modulus, r_size) == 0;
}

std::size_t coordinate_size(curve_id curve) {
  return with_curve(curve, []<class C>() -> std::size_t { return 8 * C::fq::words; });
}

// The ceremony's record must be long enough for the contributions that it counts.
void require_record(bytes record, std::size_t coordinate) {
  constexpr std::size_t hash = 64, count = 4;
  require(record.size() >= hash + count);
  const std::size_t least = 10 * coordinate + 72;
  require(read_u32(record.data() + hash) <= (record.size() - hash - count) / least);
}

}  // namespace

std::size_t point_size(curve_id curve, group_id group) {
  return (group == group_id::g1 ? 2 : 4) * coordinate_size(curve);
}

proving_key::proving_key(const std::string& path) : file(path, "zkey", 1) {
  const bytes protocol = file.section(1), header = file.section(2);
  require(protocol.size() == 4 && read_u32(protocol.data()) == 1);
  require(has_primes<bn254>(header) || has_primes<bls12_381>(header));
  curve = has_primes<bn254>(header) ? curve_id::bn254 : curve_id::bls12_381;
  const std::size_t coordinate = coordinate_size(curve), sizes = 8 + coordinate + scalar_bytes;
  constexpr std::size_t coordinates = 3 * 2 + 3 * 4;  // three points of each group
  require(header.size() == sizes + 12 + coordinates * coordinate);
  const std::uint8_t* at = header.data() + sizes;
  wires = read_u32(at);
  public_count = read_u32(at + 4);
  const std::uint32_t rows = read_u32(at + 8);
  require(public_count < wires && public_count < rows && std::has_single_bit(rows));
  log_domain = std::countr_zero(rows);
  with_curve(curve, [&]<class C>() { require(log_domain <= C::two_adicity); });
  const std::size_t g1 = point_size(curve, group_id::g1), g2 = point_size(curve, group_id::g2);
  alpha1 = at + 12;
  beta1 = alpha1 + g1;
  beta2 = beta1 + g1;
  gamma2 = beta2 + g2;
  delta1 = gamma2 + g2;
  delta2 = delta1 + g1;
  require_record(file.section(10), coordinate);
}

bytes proving_key::coefficients() const {
  const bytes section = file.section(4);
  require(section.size() >= 4 && section.size() == 4 + record_bytes * read_u32(section.data()));
  return section;
}

bytes proving_key::points(query number, group_id group, std::size_t count) const {
  const bytes section = file.section(static_cast<std::uint32_t>(number));
  require(section.size() == count * point_size(curve, group));
  return section;
}

void read_witness(const proving_key& key, const std::string& path, std::uint64_t* out) {
  const section_file file(path, "wtns", 2);
  const bytes header = file.section(1), values = file.section(2);
  require(header.size() == 8 + scalar_bytes && read_u32(header.data()) == scalar_bytes);
  require(read_u32(header.data() + 4 + scalar_bytes) == key.wires);
  require(values.size() == scalar_bytes * key.wires);
  with_curve(key.curve, [&]<class C>() {
    using F = typename C::fr;
    require(std::memcmp(header.data() + 4, F::modulus, scalar_bytes) == 0);
    std::memcpy(out, values.data(), values.size());
    const std::uint64_t one[F::words] = {1};
    require(std::memcmp(out, one, sizeof one) == 0);
    for (std::size_t i = 0; i < key.wires; i++) require(is_canonical<F>(out + F::words * i));
  });
}

}  // namespace cuzk::oneshot
