#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "repository.h"

// A part of golden data made by running the reference implementations; each file names its origin. By value, so that a
// loop may run over it.
inline nlohmann::json read_vectors(const std::string& file, const std::string& part) {
  return nlohmann::json::parse(std::ifstream(starpo::test::repository() / "native/tests/vectors" / file)).at(part);
}
