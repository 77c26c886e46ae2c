#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace cuzk::avx2 {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t smallest_block = std::size_t{1} << 18;
constexpr std::size_t most_blocks = 16;

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

// As large as all before, so that blocks stay few; pages that nobody touches cost nothing.
void arena::add_block(std::size_t least) {
  const std::size_t wanted = std::max({least, bytes(), smallest_block});
  const std::size_t unit = wanted < huge_page ? smallest_block : huge_page;
  const std::size_t size = (wanted + unit - 1) / unit * unit;
  blocks_.reserve(blocks_.size() + 1);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(unit, size));
  if (memory == nullptr) throw std::bad_alloc();
  if (unit == huge_page) madvise(memory, size, MADV_HUGEPAGE);
  blocks_.push_back({std::unique_ptr<std::byte, free_memory>(memory), size});
}

void arena::reset() {
  current_ = used_ = 0;
  if (blocks_.size() > most_blocks) blocks_.clear();
}

std::size_t arena::bytes() const {
  std::size_t total = 0;
  for (const block& b : blocks_) total += b.size;
  return total;
}

arena_lease::arena_lease(arena_use use) {
  idle_arenas& arenas = idle();
  std::lock_guard lock(arenas.guard);
  if (arenas.list.empty()) {
    arena_ = std::make_unique<arena>();
    return;
  }
  const auto smaller = [](const auto& a, const auto& b) { return a->bytes() < b->bytes(); };
  const auto chosen = use == arena_use::scratch
                          ? std::min_element(arenas.list.begin(), arenas.list.end(), smaller)
                          : std::max_element(arenas.list.begin(), arenas.list.end(), smaller);
  arena_ = std::move(*chosen);
  arenas.list.erase(chosen);
}

arena_lease::~arena_lease() {
  arena_->reset();
  idle_arenas& arenas = idle();
  std::lock_guard lock(arenas.guard);
  try {
    arenas.list.push_back(std::move(arena_));
  } catch (const std::bad_alloc&) {
    // Not kept, then.
  }
}

}  // namespace cuzk::avx2
