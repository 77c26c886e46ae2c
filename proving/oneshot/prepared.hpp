// The multiples of a key's points that `cuzkweb prepare` left beside it (proving/formats/prepared.py).
#pragma once
#include <array>
#include <memory>
#include <string>

#include "key.hpp"

namespace cuzk::oneshot {

enum class table { c_and_h, a, b1, b2 };

class prepared_key {
  const std::uint8_t* start_;
  std::size_t size_;
  std::array<std::unique_ptr<bases>, 4> tables_;

 public:
  // The prepared key beside a zkey, or null where there is none, where it belongs to another key, and where
  // the engine has no tables.
  static std::unique_ptr<prepared_key> find(const proving_key& key, const std::string& zkey);
  ~prepared_key();
  prepared_key(const prepared_key&) = delete;
  prepared_key& operator=(const prepared_key&) = delete;

  const bases& at(table which) const { return *tables_[static_cast<std::size_t>(which)]; }

 private:
  prepared_key(const std::uint8_t* start, std::size_t size) : start_(start), size_(size) {}
  bool open(const proving_key& key, std::uint64_t zkey_size, std::int64_t zkey_time);
};

}  // namespace cuzk::oneshot
