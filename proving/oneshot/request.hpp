// What a command line asks for.
#pragma once
#include <optional>
#include <span>
#include <string>

namespace cuzk::oneshot {

enum class times_shown { none, text, json };

struct request {
  std::string zkey, wtns, proof, public_signals;
  int threads = 0;  // 0: one for each processor that this process may run on
  times_shown times = times_shown::none;
};

// The request of `prove` with a zkey and a wtns on the CPU; nothing for every other line, right or wrong.
std::optional<request> read_request(std::span<char* const> line);

}  // namespace cuzk::oneshot
