// The wall time of named stages.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "request.hpp"

namespace cuzk::oneshot {

class stopwatch {
  using clock = std::chrono::steady_clock;
  clock::time_point started_ = clock::now(), last_ = started_;
  std::vector<std::pair<const char*, double>> stages_;

 public:
  // Ends a stage, which began where the one before it ended.
  void end(const char* stage);
  // What `prove --verbose` and `prove --json` print.
  std::string report(times_shown) const;
};

}  // namespace cuzk::oneshot
