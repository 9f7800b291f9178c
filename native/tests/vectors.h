#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// Golden data made by running the reference implementations; each file names its origin.
inline nlohmann::json read_vectors(const std::string& name) { return nlohmann::json::parse(std::ifstream(STARPO_REPOSITORY "/native/tests/vectors/" + name)); }
