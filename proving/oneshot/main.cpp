// The command `cuzkweb`.
//
// A plain `prove` from a zkey and a wtns is done here, because starting Python takes longer than a small
// proof. Every other command, and every file that is not as it should be, is for the Python program beside
// this one, which says what is wrong.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>

#include "documents.hpp"
#include "memory.hpp"

namespace {

using namespace cuzk::oneshot;

constexpr int done = 0, refused = 1;

enum class outcome { proved, not_written, left_to_python };

outcome prove_at_once(const request& wanted) {
  try {
    stopwatch watch;
    const statement proved = prove(wanted, watch);
    write_file(wanted.public_signals, public_document(proved));
    write_file(wanted.proof, proof_document(proved));
    watch.end("write");
    if (wanted.times != times_shown::none) std::fputs(watch.report(wanted.times).c_str(), stderr);
    return outcome::proved;
  } catch (const write_error& error) {
    std::fprintf(stderr, "cuzkweb: %s\n", error.what());
    return outcome::not_written;
  } catch (const unusual&) {
    return outcome::left_to_python;
  } catch (const std::exception&) {
    return outcome::left_to_python;
  }
}

// Does not come back when the program is there.
int run_python(char** arguments) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - std::strlen("-python") - 1);
  if (length > 0) {
    std::strcpy(path + length, "-python");
    execv(path, arguments);
  }
  std::perror("cuzkweb: the program cuzkweb-python must lie beside this one");
  return refused;
}

}  // namespace

int main(int count, char** arguments) {
  const auto wanted = read_request({arguments + 1, static_cast<std::size_t>(count > 0 ? count - 1 : 0)});
  if (wanted) {
    switch (prove_at_once(*wanted)) {
      case outcome::proved:
        return done;
      case outcome::not_written:
        return refused;
      case outcome::left_to_python:
        break;
    }
  }
  return run_python(arguments);
}
