#pragma once

#include <string>

#include "base/check_result.h"

namespace starpo {

// Checks the kernels of each supported instruction set: products against double, and bits against the scalar kernels.
// Runs only checks whose name contains `filter`.
void cpu_self_test(const std::string& filter, const OnCheckResult& on_result);

}  // namespace starpo
