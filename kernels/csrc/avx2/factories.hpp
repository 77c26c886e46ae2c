// What the translation units of this engine make for engine.cpp; each compiles the templates of one curve.
#pragma once
#include <memory>

#include "engine.hpp"
#include "words.hpp"

namespace cuzk::avx2 {

std::unique_ptr<bases> load_bn254(group_id, const std::uint8_t* points, std::size_t n, int threads);
std::unique_ptr<bases> load_bls12_381(group_id, const std::uint8_t* points, std::size_t n, int threads);

// The smallest transforms of this engine.
int least_log_n();
void ntt(curve_id, u64* data, int log_n, bool inverse, int threads);
void quotient(curve_id, u64* a, u64* b, int log_n, u64* h, int threads);

}  // namespace cuzk::avx2
