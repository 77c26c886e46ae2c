#include "request.hpp"

#include <charconv>
#include <string_view>

namespace cuzk::oneshot {

namespace {

constexpr int most_threads = 1024;

bool read_threads(std::string_view text, int& threads) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, threads);
  return error == std::errc{} && stopped == end && threads >= 0 && threads <= most_threads;
}

// Sets what a flag with a value stands for; false where this program does not know the two.
bool set_value(request& wanted, std::string_view flag, std::string_view value) {
  if (flag == "--threads") return read_threads(value, wanted.threads);
  if (flag == "--device") return value == "host";
  std::string* path = flag == "--zkey"     ? &wanted.zkey
                      : flag == "--wtns"   ? &wanted.wtns
                      : flag == "--proof"  ? &wanted.proof
                      : flag == "--public" ? &wanted.public_signals
                                           : nullptr;
  if (path == nullptr || !path->empty() || value.empty()) return false;
  *path = value;
  return true;
}

}  // namespace

std::optional<request> read_request(std::span<char* const> line) {
  if (line.empty() || std::string_view(line[0]) != "prove") return {};
  request wanted;
  bool verbose = false, json = false;
  for (std::size_t i = 1; i < line.size(); i++) {
    const std::string_view word = line[i];
    if (word == "-v" || word == "--verbose") {
      verbose = true;
    } else if (word == "--json") {
      json = true;
    } else if (const std::size_t sign = word.find('='); word.starts_with("--") && sign != word.npos) {
      if (!set_value(wanted, word.substr(0, sign), word.substr(sign + 1))) return {};
    } else {
      if (i + 1 == line.size() || line[i + 1][0] == '-' || !set_value(wanted, word, line[i + 1])) return {};
      i++;
    }
  }
  wanted.times = json ? times_shown::json : verbose ? times_shown::text : times_shown::none;
  const bool whole =
      !wanted.zkey.empty() && !wanted.wtns.empty() && !wanted.proof.empty() && !wanted.public_signals.empty();
  return whole ? std::optional(wanted) : std::nullopt;
}

}  // namespace cuzk::oneshot
