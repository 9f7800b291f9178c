#pragma once

#include <string>
#include <vector>

#include "engine/cuda/selftest/check.h"

namespace starpo::cuda {

// What every file selftest/check_NAME.cpp gives by its function NAME_checks().
std::vector<Check> every_check();

// Runs the checks whose name contains `filter`, and calls on_result after each. A check that throws counts as failed,
// and the next one still runs.
void run_checks(const std::vector<Check>& checks, const std::string& filter, Stream& stream,
                const OnCheckResult& on_result);

// run_checks with every check, on device cuda:N, which can be used.
void self_test(int device, const std::string& filter, const OnCheckResult& on_result);

}  // namespace starpo::cuda
