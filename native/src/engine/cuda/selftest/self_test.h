#pragma once

#include <string>
#include <vector>

#include "engine/cuda/selftest/check.h"

namespace starpo::cuda {

// Returns the checks of all files selftest/check_NAME.cpp, which define NAME_checks().
std::vector<Check> every_check();

// Runs the checks whose name contains `filter`, and calls on_result after each. A check that throws has failed, and the
// next one still runs.
void run_checks(const std::vector<Check>& checks, const std::string& filter, Stream& stream,
                const OnCheckResult& on_result);

// Runs all checks on device cuda:N, which must be usable.
void self_test(int device, const std::string& filter, const OnCheckResult& on_result);

}  // namespace starpo::cuda
