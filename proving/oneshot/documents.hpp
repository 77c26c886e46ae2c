// The JSON of snarkjs for one proof.
#pragma once
#include <stdexcept>
#include <string>

#include "prover.hpp"

namespace cuzk::oneshot {

// What became of a file that could not be written; the text is the line for the person.
struct write_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string public_document(const statement&);
std::string proof_document(const statement&);

// Writes to a new file beside `path` and renames it over `path`. Throws write_error.
void write_file(const std::string& path, const std::string& content);

}  // namespace cuzk::oneshot
