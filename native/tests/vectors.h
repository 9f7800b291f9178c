#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "repository.h"

// Returns a part of the golden data of the reference implementations. Each file names its origin. Returns by value, so
// that a loop can run over the result.
inline nlohmann::json read_vectors(const std::string& file, const std::string& part) {
  return nlohmann::json::parse(std::ifstream(starpo::test::repository() / "native/tests/vectors" / file)).at(part);
}
