// Runs the blocks of a launch one after another, and the threads of a block as fibers.
//
// A fiber is entered by ucontext once and lives on from one block to the next; all later changes are jumps,
// which need no system call.
#include "cuda/shim/shim.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace cuzk::shim {
namespace {

constexpr std::size_t stack_bytes = 256 << 10;
constexpr unsigned lanes = 32;

enum outcome : int { done = 0, unknown_kernel = -1, deadlock = -2, wrong_block = -3 };

struct fiber {
  jmp_buf place;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};  // not touched before it is used
  bool entered = false, finished = false;
};

struct warp_exchange {
  unsigned arrived, round;
  unsigned words[2][lanes];  // of this round and of the one that its lanes may still be reading
};

struct block_state {
  jmp_buf scheduler;
  std::vector<fiber> fibers;
  std::vector<warp_exchange> warps;
  std::vector<std::uint64_t> memory;
  unsigned arrived, round, current;
  bool progress;
  const entry* kernel;
  void** arguments;
};

block_state block;

void give_way() {
  unsigned self = block.current;
  if (_setjmp(block.fibers[self].place) == 0) _longjmp(block.scheduler, 1);
}

void run_fiber() {
  for (;;) {
    block.kernel->run(block.arguments);
    block.fibers[block.current].finished = true;
    block.progress = true;
    give_way();
  }
}

void enter(fiber& f) {
  ucontext_t start;
  getcontext(&start);
  start.uc_stack.ss_sp = f.stack.get();
  start.uc_stack.ss_size = stack_bytes;
  start.uc_link = nullptr;
  makecontext(&start, run_fiber, 0);
  f.entered = true;
  setcontext(&start);
}

void resume(unsigned thread) {
  block.current = thread;
  thread_index = {thread, 0, 0};
  if (_setjmp(block.scheduler) != 0) return;
  fiber& f = block.fibers[thread];
  if (f.entered) _longjmp(f.place, 1);
  enter(f);
}

unsigned place_in_order(unsigned step, unsigned threads, unsigned order, unsigned pass) {
  if (order == 0) return step;
  if (order == 1) return threads - 1 - step;
  unsigned odd = (2654435761u * (order + pass)) | 1;
  if (threads & (threads - 1)) return (step + odd) % threads;  // no power of two: rotated only
  return (step * odd + order + 7 * pass) & (threads - 1);
}

void prepare(unsigned threads, unsigned shared_bytes) {
  block.memory.assign(shared_bytes / 8 + 2, 0xa5a5a5a5a5a5a5a5u);
  block.warps.assign((threads + lanes - 1) / lanes, {});
  if (block.fibers.size() < threads) block.fibers = std::vector<fiber>(threads);
  block.arrived = block.round = 0;
  for (unsigned thread = 0; thread < threads; thread++) block.fibers[thread].finished = false;
}

outcome run_block(unsigned threads, unsigned shared_bytes, unsigned order) {
  prepare(threads, shared_bytes);
  unsigned left = threads;
  for (unsigned pass = 0; left != 0; pass++) {
    block.progress = false;
    left = threads;
    for (unsigned step = 0; step < threads; step++) {
      unsigned thread = place_in_order(step, threads, order, pass);
      if (!block.fibers[thread].finished) resume(thread);
      left -= block.fibers[thread].finished;
    }
    if (!block.progress) {
      block.fibers.clear();  // they would go on where they are
      return deadlock;
    }
  }
  return done;
}

}  // namespace

void wait_for_block() {
  unsigned round = block.round;
  block.progress = true;
  if (++block.arrived == block_size.x) {
    block.arrived = 0;
    block.round++;
  }
  while (block.round == round) give_way();
}

const unsigned* exchange(unsigned word) {
  warp_exchange& warp = block.warps[thread_index.x / lanes];
  unsigned round = warp.round, first = thread_index.x / lanes * lanes;
  unsigned present = block_size.x - first < lanes ? block_size.x - first : lanes;
  warp.words[round % 2][thread_index.x % lanes] = word;
  block.progress = true;
  if (++warp.arrived == present) {
    warp.arrived = 0;
    warp.round++;
  }
  while (warp.round == round) give_way();
  return warp.words[round % 2];
}

void* block_memory() {
  auto address = reinterpret_cast<std::uintptr_t>(block.memory.data());
  return reinterpret_cast<void*>((address + 15) / 16 * 16);
}

const entry* entry::find(const char* name) {
  for (const entry* e = first; e != nullptr; e = e->next) {
    if (std::strcmp(e->name, name) == 0) return e;
  }
  return nullptr;
}

}  // namespace cuzk::shim

// As cuLaunchKernel: arguments[i] points at the i-th argument. See cuda/README.md.
extern "C" __attribute__((visibility("default"))) int cuzk_shim_launch(const char* kernel,
                                                                       const unsigned* grid, unsigned threads,
                                                                       unsigned shared_bytes,
                                                                       void** arguments, unsigned order) {
  using namespace cuzk::shim;
  const entry* found = entry::find(kernel);
  if (found == nullptr) return unknown_kernel;
  if (threads == 0 || threads > 1024) return wrong_block;
  static std::mutex one_launch;
  std::lock_guard lock(one_launch);
  block.kernel = found;
  block.arguments = arguments;
  grid_size = {grid[0], grid[1], grid[2]};
  block_size = {threads, 1, 1};
  for (unsigned z = 0; z < grid[2]; z++) {
    for (unsigned y = 0; y < grid[1]; y++) {
      for (unsigned x = 0; x < grid[0]; x++) {
        block_index = {x, y, z};
        outcome outcome = run_block(threads, shared_bytes, order);
        if (outcome != done) return outcome;
      }
    }
  }
  return done;
}
