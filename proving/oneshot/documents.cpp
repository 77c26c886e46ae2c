#include "documents.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cuzk::oneshot {

namespace {

using items = std::vector<std::string>;

__extension__ using wide = unsigned __int128;

std::string quoted(const std::string& text) {
  std::string result(1, '"');
  result += text;
  result += '"';
  return result;
}

std::string member(const char* name, const std::string& value) {
  std::string result = quoted(name);
  result += ": ";
  result += value;
  return result;
}

// A plain little-endian number in quotes.
std::string quoted_decimal(number value) {
  constexpr std::uint64_t chunk = 10'000'000'000'000'000'000u;  // as many digits as fit a word
  constexpr int chunk_digits = 19;
  std::string reversed;
  while (std::any_of(value.begin(), value.end(), [](std::uint64_t word) { return word != 0; })) {
    wide rest = 0;
    for (std::size_t i = value.size(); i-- > 0;) {
      rest = rest << 64 | value[i];
      value[i] = static_cast<std::uint64_t>(rest / chunk);
      rest %= chunk;
    }
    for (int digit = 0; digit < chunk_digits; digit++, rest /= 10)
      reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  reversed.erase(std::find_if(reversed.rbegin(), reversed.rend(), [](char c) { return c != '0'; }).base(),
                 reversed.end());
  if (reversed.empty()) reversed.push_back('0');
  return quoted({reversed.rbegin(), reversed.rend()});
}

// As Python's json with an indentation of one.
std::string enclosed(const char* ends, const items& parts, std::size_t depth) {
  if (parts.empty()) return ends;
  std::string line(1, '\n');
  line.append(depth, ' ');
  std::string text(1, ends[0]);
  for (const std::string& part : parts) {
    if (text.size() > 1) text += ',';
    text += line;
    text += part;
  }
  return text + line.substr(0, line.size() - 1) + ends[1];
}

items decimals(const coordinates& point, std::size_t from, std::size_t to) {
  items parts;
  for (std::size_t i = from; i < to; i++) parts.push_back(quoted_decimal(point[i]));
  return parts;
}

bool is_zero(const coordinates& point) {
  return std::all_of(point.begin(), point.end(), [](const number& value) {
    return std::all_of(value.begin(), value.end(), [](std::uint64_t word) { return word == 0; });
  });
}

std::string g1_document(const coordinates& point) {
  if (is_zero(point)) return enclosed("[]", {quoted("0"), quoted("1"), quoted("0")}, 2);
  items parts = decimals(point, 0, 2);
  parts.push_back(quoted("1"));
  return enclosed("[]", parts, 2);
}

std::string g2_document(const coordinates& point) {
  const auto pair = [](const items& parts) { return enclosed("[]", parts, 3); };
  const std::string one = pair({quoted("1"), quoted("0")}), zero = pair({quoted("0"), quoted("0")});
  if (is_zero(point)) return enclosed("[]", {zero, one, zero}, 2);
  return enclosed("[]", {pair(decimals(point, 0, 2)), pair(decimals(point, 2, 4)), one}, 2);
}

[[noreturn]] void fail(const std::string& path) { throw write_error(path + ": " + std::strerror(errno)); }

void write_all(int file, const std::string& content, const std::string& path) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t written = write(file, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path);
    done += static_cast<std::size_t>(written);
  }
}

std::string neighbour_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == path.npos ? 0 : slash + 1;
  unsigned char random[8];
  if (getentropy(random, sizeof random) != 0) fail(path);
  std::string suffix;
  for (unsigned char byte : random) suffix += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return path.substr(0, name) + "." + path.substr(name) + "." + suffix;
}

}  // namespace

std::string public_document(const statement& proved) {
  items parts;
  for (const number& signal : proved.public_signals) parts.push_back(quoted_decimal(signal));
  return enclosed("[]", parts, 1);
}

std::string proof_document(const statement& proved) {
  const char* curve = proved.curve == curve_id::bn254 ? "bn128" : "bls12381";
  const items members{member("pi_a", g1_document(proved.a)), member("pi_b", g2_document(proved.b)),
                      member("pi_c", g1_document(proved.c)), member("protocol", quoted("groth16")),
                      member("curve", quoted(curve))};
  return enclosed("{}", members, 1);
}

void write_file(const std::string& path, const std::string& content) {
  const std::string fresh = neighbour_of(path);
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) fail(path);
  try {
    write_all(file, content, path);
    if (fchmod(file, 0644) != 0) fail(path);
  } catch (...) {
    close(file);
    unlink(fresh.c_str());
    throw;
  }
  if (close(file) != 0 || rename(fresh.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(fresh.c_str());
    errno = reason;
    fail(path);
  }
}

}  // namespace cuzk::oneshot
