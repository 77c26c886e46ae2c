#include "prepared.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace cuzk::oneshot {

namespace {

constexpr std::size_t page = 4096, first_table = 64, table_bytes = 32;
constexpr std::uint32_t version = 1, layout = 1;
constexpr int widest_window = 16, most_rows = 16;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_same(const std::uint8_t* at, std::uint64_t value) { return read_u64(at) == value; }

// What the header must say for this key.
bool belongs_to(const std::uint8_t* header, const proving_key& key, std::uint64_t zkey_size,
                std::int64_t zkey_time) {
  return std::memcmp(header, "cuzkprep", 8) == 0 && read_u32(header + 8) == version &&
         read_u32(header + 12) == std::uint32_t(key.curve) && is_same(header + 16, zkey_size) &&
         is_same(header + 24, std::uint64_t(zkey_time)) && read_u32(header + 32) == key.wires &&
         read_u32(header + 36) == key.public_count &&
         read_u32(header + 40) == std::uint32_t(key.log_domain) && read_u32(header + 48) == layout;
}

}  // namespace

std::unique_ptr<prepared_key> prepared_key::find(const proving_key& key, const std::string& zkey) {
  const bool has_tables = selected_engine().choose_multiples(key.curve, group_id::g1, key.wires, 2).rows > 1;
  if (!has_tables) return nullptr;
  const std::string path = zkey + ".prepared";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat about, source;
  void* mapped = MAP_FAILED;
  if (fstat(file, &about) == 0 && stat(zkey.c_str(), &source) == 0 && about.st_size >= off_t{page})
    mapped = mmap(nullptr, std::size_t(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return nullptr;
  std::unique_ptr<prepared_key> found(
      new prepared_key(static_cast<const std::uint8_t*>(mapped), std::size_t(about.st_size)));
  if (found->open(key, std::uint64_t(source.st_size), nanoseconds(source.st_mtim))) return found;
  std::fprintf(stderr, "cuzkweb: %s is not of this key and is left aside: run cuzkweb prepare again\n",
               path.c_str());
  return nullptr;
}

prepared_key::~prepared_key() { munmap(const_cast<std::uint8_t*>(start_), size_); }

bool prepared_key::open(const proving_key& key, std::uint64_t zkey_size, std::int64_t zkey_time) {
  if (!belongs_to(start_, key, zkey_size, zkey_time)) return false;
  const int rows = int(read_u32(start_ + 44));
  const struct {
    group_id group;
    std::size_t points;
  } expected[] = {{group_id::g1, key.private_count() + key.domain()},
                  {group_id::g1, key.wires},
                  {group_id::g1, key.wires},
                  {group_id::g2, key.wires}};
  if (rows < 2 || rows > most_rows) return false;
  for (std::size_t i = 0; i < tables_.size(); i++) {
    const std::uint8_t* header = start_ + first_table + i * table_bytes;
    const multiples given{int(read_u32(header)), int(read_u32(header + 4)), rows};
    const std::uint64_t place = read_u64(header + 16), bytes = read_u64(header + 24);
    const auto [group, points] = expected[i];
    const bool fits = given.window >= 2 && given.window <= widest_window && given.sets >= 1 &&
                      given.sets * rows * given.window >= 255 && given.sets <= 255 &&
                      read_u64(header + 8) == points &&
                      bytes == rows * points * point_size(key.curve, group) && place % page == 0 &&
                      place <= size_ && bytes <= size_ - place;
    if (!fits) return false;
    tables_[i] = selected_engine().open_table(
        key.curve, group, reinterpret_cast<const std::uint64_t*>(start_ + place), points, given);
  }
  return true;
}

}  // namespace cuzk::oneshot
