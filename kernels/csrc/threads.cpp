// The flag with which a caller stops work that runs.
#include "threads.hpp"

#include "abi.hpp"

namespace cuzk {

namespace {

thread_local const int* watched = nullptr;

}  // namespace

const int* watched_flag() { return watched; }
void watch_flag(const int* flag) { watched = flag; }

void stop_if_raised(const int* flag) {
  if (flag != nullptr && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0) throw stopped_work();
}

}  // namespace cuzk

// From now on every call of this thread answers `stopped` soon after *flag has become other than zero. Null
// watches nothing.
CUZK_EXPORT void cuzk_watch_flag(const int* flag) { cuzk::watch_flag(flag); }
