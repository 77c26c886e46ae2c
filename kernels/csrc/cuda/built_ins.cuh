// What CUDA C++ has built in, by the names of the kernels: the same for NVRTC and for g++ with the shim.
#pragma once

#ifdef CUZK_SHIM

#include "cuda/shim/shim.hpp"

#else

#define CUZK_HD __device__ __forceinline__
#define CUZK_CALL __device__ __noinline__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#define CUZK_CONSTANT __constant__
// A kernel of at most so many threads a block, of which so many blocks shall fit a multiprocessor.
#define CUZK_KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)
#define CUZK_ENTRY(name)

extern __shared__ uint4 cuzk_shared_memory[];

namespace cuzk {

template <class T>
CUZK_HD T* shared_memory() {
  return reinterpret_cast<T*>(cuzk_shared_memory);
}

// Asks for the cache line that holds this address.
CUZK_HD void prefetch(const void* address) { asm volatile("prefetch.global.L1 [%0];" ::"l"(address)); }

}  // namespace cuzk

#endif
