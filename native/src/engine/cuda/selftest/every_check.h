#pragma once

#include <vector>

#include "engine/cuda/selftest/check.h"

namespace starpo::cuda {

// What every file selftest/check_NAME.cpp gives by its function NAME_checks().
std::vector<Check> every_check();

}  // namespace starpo::cuda
