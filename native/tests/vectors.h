#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "repository.h"

// Returns a part of the golden data of the reference implementations. Each file names its origin. Returns by value, so
// that a loop can run over the result. Throws if the part is empty.
inline nlohmann::json read_vectors(const std::string& file, const std::string& part) {
  auto found =
      nlohmann::json::parse(std::ifstream(starpo::test::repository() / "native/tests/vectors" / file)).at(part);
  if (found.empty()) throw std::runtime_error(file + " has no " + part);
  return found;
}
