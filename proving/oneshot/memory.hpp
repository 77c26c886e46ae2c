// Memory and files that belong to one scope.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace cuzk::oneshot {

// A file that is not as it should be: not for this program, and the Python one says what is wrong with it.
struct unusual {};

inline void require(bool condition) {
  if (!condition) throw unusual{};
}

using bytes = std::span<const std::uint8_t>;

// Zeroed 64-bit words from the system. Throws std::bad_alloc.
class words {
  std::uint64_t* start_;
  std::size_t count_;

 public:
  explicit words(std::size_t count);
  ~words();
  words(const words&) = delete;
  words& operator=(const words&) = delete;
  words(words&& other) noexcept : start_(other.start_), count_(other.count_) { other.start_ = nullptr; }

  std::uint64_t* at(std::size_t index) const { return start_ + index; }
};

// A file of sections (magic, u32 version, u32 count, then u32 type, u64 size and body of each), mapped.
class section_file {
  const std::uint8_t* start_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::uint32_t, bytes> sections_;

 public:
  // Throws unusual where there is no such file or its sections do not fill it exactly.
  section_file(const std::string& path, const char* magic, std::uint32_t newest_version);
  ~section_file();
  section_file(const section_file&) = delete;
  section_file& operator=(const section_file&) = delete;

  bytes section(std::uint32_t type) const;
  // Lets the system take back the memory of a part that is not needed again.
  void forget(bytes part) const;

 private:
  void read_sections();
};

// Little-endian numbers at a place that need not be aligned.
std::uint32_t read_u32(const std::uint8_t* at);
std::uint64_t read_u64(const std::uint8_t* at);

}  // namespace cuzk::oneshot
