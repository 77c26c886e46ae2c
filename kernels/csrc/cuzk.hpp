// The functions of the C ABI that programs in C++ call; what they do stands where they are defined.
#pragma once
#include <cstddef>
#include <cstdint>

inline constexpr int out_of_memory_status = -2;

extern "C" {
int cuzk_constraints_evaluate(int curve, const std::uint8_t* records, std::size_t count,
                              const std::uint64_t* witness, std::size_t wires, std::size_t domain,
                              std::uint64_t* a, std::uint64_t* b, int threads, std::size_t* bad_record);
int cuzk_quotient(int curve, std::uint64_t* a, std::uint64_t* b, int log_n, std::uint64_t* h, int threads);
int cuzk_pairing_product(int curve, const std::uint8_t* g1, const std::uint8_t* g2, std::size_t n,
                         std::uint64_t* out, int* is_one, std::size_t* bad_pair);
}
