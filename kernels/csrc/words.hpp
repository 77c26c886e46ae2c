// The word types that host and device share.
#pragma once

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif

#ifndef __CUDACC_RTC__
#include <cstdint>
#endif

namespace cuzk {

#ifdef __CUDACC_RTC__
using u64 = unsigned long;
using i64 = long;
#else
using u64 = std::uint64_t;
using i64 = std::int64_t;
#endif
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

}  // namespace cuzk
