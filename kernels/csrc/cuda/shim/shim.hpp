// Stands in for CUDA under g++: device text runs on the CPU, one thread of a block at a time.
//
// The threads of a block are fibers. A fiber runs until it waits, for the block at __syncthreads or for its
// warp in a *_sync function, so that a missing barrier shows as a result that depends on the order of the
// threads; the order is the launch's. Shared memory starts out as garbage. Nothing is said about speed or
// about the memory model.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#define __device__
#define CUZK_HD inline
#define CUZK_CALL
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#define CUZK_CONSTANT [[maybe_unused]] static const
#define CUZK_KERNEL(...) extern "C" void
#define CUZK_ENTRY(name) static const ::cuzk::shim::entry name##_entry(#name, name);

namespace cuzk::shim {

struct dimensions {
  unsigned x, y, z;
};

inline dimensions thread_index, block_index, block_size, grid_size;

void wait_for_block();
// Gives every lane's word to the warp and waits for the words of all lanes.
const unsigned* exchange(unsigned word);
void* block_memory();

// A kernel by its name, and how to call it with the argument pointers of a launch.
class entry {
 public:
  template <class... Arguments>
  entry(const char* name, void (*kernel)(Arguments...))
      : name(name),
        kernel(reinterpret_cast<void (*)()>(kernel)),
        call([](void (*kernel)(), void** arguments) {
          unpack<Arguments...>(kernel, arguments, std::index_sequence_for<Arguments...>());
        }),
        next(first) {
    first = this;
  }
  static const entry* find(const char* name);
  void run(void** arguments) const { call(kernel, arguments); }

 private:
  template <class... Arguments, std::size_t... i>
  static void unpack(void (*kernel)(), void** arguments, std::index_sequence<i...>) {
    reinterpret_cast<void (*)(Arguments...)>(kernel)(*static_cast<Arguments*>(arguments[i])...);
  }

  const char* name;
  void (*kernel)();
  void (*call)(void (*)(), void**);
  const entry* next;
  inline static const entry* first = nullptr;
};

}  // namespace cuzk::shim

#define threadIdx (::cuzk::shim::thread_index)
#define blockIdx (::cuzk::shim::block_index)
#define blockDim (::cuzk::shim::block_size)
#define gridDim (::cuzk::shim::grid_size)

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

inline void __syncthreads() { cuzk::shim::wait_for_block(); }

// The warp functions for full warps: the mask of a kernel that calls them has every lane of its warp.
inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  const unsigned* values = cuzk::shim::exchange(value);
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    same |= (unsigned)(mask >> lane & 1 && values[lane] == value) << lane;
  return same;
}
inline unsigned __shfl_sync(unsigned, unsigned value, int lane) {
  return cuzk::shim::exchange(value)[lane & 31];
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long r = 0;
  for (int bit = 0; bit < 64; bit++) r |= (x >> bit & 1) << (63 - bit);
  return r;
}
inline unsigned atomicAdd(unsigned* address, unsigned value) {
  unsigned old = *address;
  *address += value;
  return old;
}

namespace cuzk {

template <class T>
T* shared_memory() {
  return static_cast<T*>(shim::block_memory());
}
inline void prefetch(const void*) {}

}  // namespace cuzk
