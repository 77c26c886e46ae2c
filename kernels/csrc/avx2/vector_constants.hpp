// Written by generate/generate_avx2.py; do not edit.
// clang-format off
#pragma once
#include "constants.hpp"

namespace cuzk::avx2 {

// Added to every column of a product, so that logical shifts act as arithmetic ones.
inline constexpr u64 column_bias = 0x6000000000000000ull;
// `reduced` estimates the multiple of p to take away from a value `estimate_lift` p larger.
inline constexpr u64 estimate_lift = 24;
inline constexpr int estimate_shift = 38;

struct vector_bn254_fq {
  using scalar = cuzk::bn254_fq;
  static constexpr int words = 4, limbs = 9, bits = 29;
  static constexpr bool out_of_line = false;
  static constexpr bool carry_signed_differences = true;
  static constexpr u64 modulus[limbs] = {0x187cfd47ull, 0x10460b6ull, 0x1c72a34full, 0x2d522d0ull, 0x1585d978ull, 0x2db40c0ull, 0xa6e141ull, 0xe5c2634ull, 0x30644eull};
  static constexpr u64 shifted_modulus[limbs] = {0x17789a9full, 0x5ffc3dcull, 0xd6bde42ull, 0x1cf152e3ull, 0x18eb055full, 0xed815e2ull, 0x16626d2ull, 0xb8bab0full, 0x6d7c4ull};
  static constexpr u64 quotient_factor = 0x4866389ull;
  static constexpr u64 estimate = 86673;
  static constexpr u64 one[words] = {0x4e8384eb157ccc21ull, 0xfb90a6020ce148c3ull, 0x5301fa84819caa36ull, 0xdc83629563d4475ull};
  static constexpr u64 radix_cubed[words] = {0x26d80b944e2312b2ull, 0xfdde6f9885af210eull, 0xb923065cad1d1adaull, 0x26c2d286a668ff5aull};
  // Product with `enter` (here) takes R = 2^(64 words) to this R; with `leave` (in scalar) back.
  static constexpr u64 enter[words] = {0xb34bb09513349ca1ull, 0x1e880124f028f972ull, 0xe56cdd25a6092b95ull, 0x5800320dce9ed32ull};
  static constexpr u64 leave[words] = {0x0ull, 0x0ull, 0x0ull, 0x800000000000000ull};
};

struct vector_bn254_fr {
  using scalar = cuzk::bn254_fr;
  static constexpr int words = 4, limbs = 9, bits = 29;
  static constexpr bool out_of_line = false;
  static constexpr bool carry_signed_differences = true;
  static constexpr u64 modulus[limbs] = {0x10000001ull, 0x1f0fac9full, 0xe5c2450ull, 0x7d090f3ull, 0x1585d283ull, 0x2db40c0ull, 0xa6e141ull, 0xe5c2634ull, 0x30644eull};
  static constexpr u64 shifted_modulus[limbs] = {0x18f05361ull, 0x12bb1feull, 0xf5d8135ull, 0x1e6275f6ull, 0x7e7a880ull, 0x10c6bf1full, 0x11f74a6cull, 0x6fdaecbull, 0x183227ull};
  static constexpr u64 quotient_factor = 0xfffffffull;
  static constexpr u64 estimate = 86673;
  static constexpr u64 one[words] = {0x2fd4e1568fffff57ull, 0x75bba827a494b01aull, 0x5301fa84819caa80ull, 0xdc83629563d4475ull};
  static constexpr u64 radix_cubed[words] = {0xbafa616c601fddb2ull, 0x29b4a83e23e89803ull, 0x917ad60144d1496bull, 0x1baa96fcfe59ed6dull};
  // Product with `enter` (here) takes R = 2^(64 words) to this R; with `leave` (in scalar) back.
  static constexpr u64 enter[words] = {0x97aa889e8fffead7ull, 0x4da1da684b110e2aull, 0xe56cdd25a60934c8ull, 0x5800320dce9ed32ull};
  static constexpr u64 leave[words] = {0x0ull, 0x0ull, 0x0ull, 0x800000000000000ull};
};

struct vector_bls12_381_fq {
  using scalar = cuzk::bls12_381_fq;
  static constexpr int words = 6, limbs = 14, bits = 28;
  static constexpr bool out_of_line = false;
  static constexpr bool carry_signed_differences = false;
  static constexpr u64 modulus[limbs] = {0xfffaaabull, 0xfefffffull, 0x3ffffb9ull, 0xfffeb15ull, 0x6241eabull, 0xa0f6b0full, 0xf6730d2ull, 0xf38512bull, 0x4774b84ull, 0x4bacd76ull, 0xba7b643ull, 0xe69a4b1ull, 0x1ea397full, 0x1a011ull};
  static constexpr u64 shifted_modulus[limbs] = {0x2faabbull, 0x4c203d2ull, 0x2c07e7aull, 0x18f8f15ull, 0x6c7b6b8ull, 0x961f5b3ull, 0xe3a59f5ull, 0xf43940dull, 0xde40cc3ull, 0xef9c7a5ull, 0x25598bbull, 0xc2b4463ull, 0x1b1fd61ull, 0x19fc3ull};
  static constexpr u64 quotient_factor = 0xffcfffdull;
  static constexpr u64 estimate = 2580673;
  static constexpr u64 one[words] = {0x19d800000347fcb8ull, 0x12e00cde6d2002b1ull, 0x37669f83a2090c72ull, 0x9b09b42da0f73e0ull, 0xa7c515d98f1297bbull, 0x577a659fcfa012cull};
  static constexpr u64 radix_cubed[words] = {0x22294cc4d1f7b890ull, 0xc0ccb5ba56c9f3afull, 0x89a8c5c0d975ccb5ull, 0x922672ea6c968b4cull, 0x7c835652a691de8cull, 0x141ab424bbb98497ull};
  // Product with `enter` (here) takes R = 2^(64 words) to this R; with `leave` (in scalar) back.
  static constexpr u64 enter[words] = {0x56350003480e6299ull, 0x8670deb2699eb128ull, 0x983e84ef6697c98ull, 0xe3e8a053a4e6fe97ull, 0x385c20d323ecf271ull, 0x156da47f12866eb6ull};
  static constexpr u64 leave[words] = {0x0ull, 0x0ull, 0x0ull, 0x0ull, 0x0ull, 0x100000000000000ull};
};

struct vector_bls12_381_fr {
  using scalar = cuzk::bls12_381_fr;
  static constexpr int words = 4, limbs = 9, bits = 29;
  static constexpr bool out_of_line = false;
  static constexpr bool carry_signed_differences = true;
  static constexpr u64 modulus[limbs] = {0x1ull, 0x1ffffff8ull, 0x1f96ffbfull, 0x1b4805ffull, 0x1d80553bull, 0xc0404d0ull, 0x1520cce7ull, 0xa6533afull, 0x73eda7ull};
  static constexpr u64 shifted_modulus[limbs] = {0x9ull, 0x690038ull, 0x44ef9c0ull, 0x1dc7b0c4ull, 0x117c506aull, 0x16e337e9ull, 0xabb9937ull, 0x9f14608ull, 0x73eda7ull};
  static constexpr u64 quotient_factor = 0x1fffffffull;
  static constexpr u64 estimate = 36180;
  static constexpr u64 one[words] = {0x45ffffffbaull, 0x1a25272e0072d846ull, 0xfe2eedcd5dbeee8bull, 0x4d043f429eefbe41ull};
  static constexpr u64 radix_cubed[words] = {0xc041b70b9d7065dull, 0x12476d8ffc5848b9ull, 0xa9488a2f58e4fda6ull, 0x9750bceaa76d4b9ull};
  // Product with `enter` (here) takes R = 2^(64 words) to this R; with `leave` (in scalar) back.
  static constexpr u64 enter[words] = {0x8d4fffff72bull, 0x661671810e7d7cd5ull, 0x921f0102ed9718f3ull, 0x1e092e81740c8153ull};
  static constexpr u64 leave[words] = {0x0ull, 0x0ull, 0x0ull, 0x800000000000000ull};
};

}  // namespace cuzk::avx2
