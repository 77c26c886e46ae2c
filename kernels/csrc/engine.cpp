// The choice of the engine.
#include <atomic>
#include <cstdlib>
#include <string>

#include "abi.hpp"

namespace cuzk {

// Stands where the build has no such engine.
__attribute__((weak)) const engine* avx2_engine() { return nullptr; }

namespace {

std::atomic<const engine*> chosen{nullptr};

const engine& find_engine(std::string_view name) {
  const engine* fast = avx2_engine();
  if (name == "portable") return portable_engine();
  if (name == "avx2" && fast != nullptr) return *fast;
  if (name == "auto" || name.empty()) return fast != nullptr ? *fast : portable_engine();
  throw unavailable_engine("no engine " + std::string(name));
}

}  // namespace

void select_engine(std::string_view name) { chosen = &find_engine(name); }

const engine& selected_engine() {
  if (const engine* present = chosen.load()) return *present;
  const char* wanted = std::getenv("CUZKWEB_ENGINE");
  const engine& found = find_engine(wanted == nullptr ? "auto" : wanted);
  chosen = &found;
  return found;
}

}  // namespace cuzk

using namespace cuzk;

CUZK_EXPORT int cuzk_abi_version() { return 2; }

CUZK_EXPORT int cuzk_select_engine(const char* name) {
  return guarded([&] { select_engine(name); });
}

// The name lives as long as the process.
CUZK_EXPORT int cuzk_selected_engine(const char** name) {
  return guarded([&] { *name = selected_engine().name(); });
}

CUZK_EXPORT int cuzk_has_engine(const char* name, int* available) {
  return guarded([&] {
    try {
      find_engine(name);
      *available = 1;
    } catch (const unavailable_engine&) {
      *available = 0;
    }
  });
}
