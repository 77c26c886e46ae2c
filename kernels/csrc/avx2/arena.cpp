#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace cuzk::avx2 {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

struct idle_arenas {
  std::mutex guard;
  std::vector<std::unique_ptr<arena>> list;
};

idle_arenas& idle() {
  static idle_arenas arenas;
  return arenas;
}

}  // namespace

std::byte* arena::take_bytes(std::size_t bytes) {
  bytes = (bytes + 63) & ~std::size_t{63};
  while (current_ < blocks_.size() && bytes > blocks_[current_].size - used_) {
    current_++;
    used_ = 0;
  }
  if (current_ == blocks_.size()) add_block(bytes);
  std::byte* at = blocks_[current_].memory.get() + used_;
  used_ += bytes;
  return at;
}

void arena::add_block(std::size_t bytes) {
  std::size_t size = (std::max(bytes, huge_page) + huge_page - 1) & ~(huge_page - 1);
  blocks_.reserve(blocks_.size() + 1);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(huge_page, size));
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, size, MADV_HUGEPAGE);
  blocks_.push_back({std::unique_ptr<std::byte, free_memory>(memory), size});
}

void arena::merge() {
  current_ = used_ = 0;
  if (blocks_.size() <= 1) return;
  std::size_t total = bytes();
  blocks_.clear();
  try {
    add_block(total);
  } catch (const std::bad_alloc&) {
    // The next user tries again, in smaller pieces.
  }
}

std::size_t arena::bytes() const {
  std::size_t total = 0;
  for (const block& b : blocks_) total += b.size;
  return total;
}

arena_lease::arena_lease() {
  idle_arenas& arenas = idle();
  std::lock_guard lock(arenas.guard);
  if (arenas.list.empty()) {
    arena_ = std::make_unique<arena>();
  } else {
    arena_ = std::move(arenas.list.back());
    arenas.list.pop_back();
  }
}

arena_lease::~arena_lease() {
  arena_->merge();
  idle_arenas& arenas = idle();
  std::lock_guard lock(arenas.guard);
  try {
    arenas.list.push_back(std::move(arena_));
  } catch (const std::bad_alloc&) {
    // Not kept, then.
  }
}

}  // namespace cuzk::avx2
