// Scratch memory that outlives the call it was taken for: clearing fresh pages costs a large sum 10 % of its
// time.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace cuzk::avx2 {

// A stack of arrays for one thread.
class arena {
  struct free_memory {
    void operator()(std::byte* p) const { std::free(p); }
  };
  struct block {
    std::unique_ptr<std::byte, free_memory> memory;
    std::size_t size;
  };
  std::vector<block> blocks_;
  std::size_t current_ = 0, used_ = 0;  // bytes used of the current block

 public:
  // Uninitialised, aligned to cache lines; valid until the scope that is open now ends. Throws
  // std::bad_alloc.
  template <class T>
  T* take(std::size_t count) {
    static_assert(alignof(T) <= 64);
    if (count > std::size_t{1} << 48) throw std::bad_alloc();
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }

  // What is taken while a scope lives is given back when it ends.
  class scope {
    arena& arena_;
    std::size_t current_, used_;

   public:
    explicit scope(arena& a) : arena_(a), current_(a.current_), used_(a.used_) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      arena_.current_ = current_;
      arena_.used_ = used_;
    }
  };

  // With nothing taken: starts over; gives blocks back when they have become many.
  void reset();
  std::size_t bytes() const;

 private:
  std::byte* take_bytes(std::size_t bytes);
  void add_block(std::size_t bytes);
};

// What an arena is wanted for: arrays that grow with the sum, or the scratch of one task of it.
enum class arena_use { arrays, scratch };

// An idle arena of this process, or a new one; idle again when the lease ends. Arrays get the largest that is
// idle and scratch the smallest, or pages would be cleared for both in every arena.
class arena_lease {
  std::unique_ptr<arena> arena_;

 public:
  explicit arena_lease(arena_use use = arena_use::arrays);
  ~arena_lease();
  arena_lease(const arena_lease&) = delete;
  arena_lease& operator=(const arena_lease&) = delete;
  arena& operator*() const { return *arena_; }
};

}  // namespace cuzk::avx2
