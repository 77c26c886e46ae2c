// Work split over threads that live for one call.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cuzk {

// The flag that work called from this thread is to look at, or null; each thread has its own.
const int* watched_flag();
void watch_flag(const int* flag);

// Throws stopped_work where the flag is there and no longer zero.
void stop_if_raised(const int* flag);

// Calls work(task) for every task in [0, tasks), each exactly once, on up to `threads` threads. The first
// exception stops the hand-out of further tasks and is thrown here; so does the watched flag, once raised.
// Fewer threads than wanted are no error.
template <class Work>
void parallel_tasks(int threads, std::size_t tasks, const Work& work) {
  const int* flag = watched_flag();
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_guard;
  auto run = [&] {
    try {
      for (std::size_t task; (task = next.fetch_add(1)) < tasks;) {
        stop_if_raised(flag);
        work(task);
      }
    } catch (...) {
      std::lock_guard lock(failure_guard);
      if (!failure) failure = std::current_exception();
      next = tasks;
    }
  };
  std::size_t helpers = std::min<std::size_t>(std::max(threads, 1), tasks);
  std::vector<std::thread> pool;
  pool.reserve(helpers);
  try {
    for (std::size_t i = 1; i < helpers; i++) pool.emplace_back(run);
  } catch (...) {
    // No thread or no memory is left: the threads that run do all of the work.
  }
  run();
  for (std::thread& helper : pool) helper.join();
  if (failure) std::rethrow_exception(failure);
}

// Cuts [0, n) into ranges of at least `grain` and calls work(begin, end) for each.
template <class Work>
void parallel_ranges(int threads, std::size_t n, std::size_t grain, const Work& work) {
  if (n == 0) return;
  std::size_t pieces =
      std::clamp<std::size_t>(n / std::max<std::size_t>(grain, 1), 1, 4 * std::max(threads, 1));
  if (threads <= 1) pieces = 1;
  parallel_tasks(threads, pieces, [&](std::size_t i) { work(n * i / pieces, n * (i + 1) / pieces); });
}

}  // namespace cuzk
