#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace cuzk::oneshot {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t file_header = 12, section_header = 12;

}  // namespace

words::words(std::size_t count) : count_(count) {
  const std::size_t size = std::max<std::size_t>(count, 1) * 8;
  void* taken = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) throw std::bad_alloc();
  if (size >= huge_page) madvise(taken, size, MADV_HUGEPAGE);
  start_ = static_cast<std::uint64_t*>(taken);
}

words::~words() {
  if (start_ != nullptr) munmap(start_, std::max<std::size_t>(count_, 1) * 8);
}

section_file::section_file(const std::string& path, const char* magic, std::uint32_t newest_version) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(file >= 0);
  struct stat about;
  void* mapped = MAP_FAILED;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= off_t{file_header}) {
    size_ = static_cast<std::size_t>(about.st_size);
    mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  require(mapped != MAP_FAILED);
  start_ = static_cast<const std::uint8_t*>(mapped);
  try {
    require(std::memcmp(start_, magic, 4) == 0);
    require(read_u32(start_ + 4) >= 1 && read_u32(start_ + 4) <= newest_version);
    read_sections();
  } catch (...) {
    munmap(const_cast<std::uint8_t*>(start_), size_);
    throw;
  }
}

section_file::~section_file() { munmap(const_cast<std::uint8_t*>(start_), size_); }

void section_file::read_sections() {
  std::size_t position = file_header;
  for (std::uint32_t left = read_u32(start_ + 8); left > 0; left--) {
    require(size_ - position >= section_header);
    const std::uint32_t type = read_u32(start_ + position);
    const std::uint64_t size = read_u64(start_ + position + 4);
    position += section_header;
    require(size <= size_ - position);
    require(sections_.emplace(type, bytes(start_ + position, size)).second);
    position += size;
  }
  require(position == size_);
}

bytes section_file::section(std::uint32_t type) const {
  const auto found = sections_.find(type);
  require(found != sections_.end());
  return found->second;
}

void section_file::forget(bytes part) const {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (from + page - 1) / page * page, last = (from + part.size()) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::uint32_t read_u32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint64_t read_u64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace cuzk::oneshot
