#include "stopwatch.hpp"

#include <cstdio>

namespace cuzk::oneshot {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[96];
  const int length = std::snprintf(text, sizeof text, format, values...);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

void stopwatch::end(const char* stage) {
  const clock::time_point now = clock::now();
  stages_.emplace_back(stage, seconds_between(last_, now));
  last_ = now;
}

std::string stopwatch::report(times_shown shown) const {
  const double total = seconds_between(started_, clock::now());
  std::string text;
  if (shown == times_shown::json) {
    const char* separator = "";
    for (const auto& [stage, seconds] : stages_) {
      text += formatted("%s\"%s\": %.6f", separator, stage, seconds);
      separator = ", ";
    }
    return "{\"stages\": {" + text + "}, \"total\": " + formatted("%.6f", total) + "}\n";
  }
  for (const auto& [stage, seconds] : stages_) text += formatted("%10s %10.1f ms\n", stage, seconds * 1000);
  return text + formatted("%10s %10.1f ms\n", "total", total * 1000);
}

}  // namespace cuzk::oneshot
