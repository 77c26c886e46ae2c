// What every function of the C ABI does: returns a status, never throws.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>

#include "dispatch.hpp"

#define CUZK_EXPORT extern "C" __attribute__((visibility("default")))

namespace cuzk {

enum status : int {
  ok = 0,
  bad_argument = -1,
  out_of_memory = -2,
  engine_unavailable = -3,
  internal_error = -4,
  stopped = -5,
};

struct unavailable_engine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The watched flag was raised (threads.hpp).
struct stopped_work : std::exception {};

template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return ok;
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  } catch (const std::length_error&) {
    return out_of_memory;
  } catch (const std::invalid_argument&) {
    return bad_argument;
  } catch (const unavailable_engine&) {
    return engine_unavailable;
  } catch (const stopped_work&) {
    return stopped;
  } catch (...) {
    return internal_error;
  }
}

}  // namespace cuzk
