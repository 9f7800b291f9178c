#pragma once

#include <string>

#include "base/check_result.h"

namespace starpo {

// Runs each instruction set's kernels that this processor has: their products against double, and their bits against
// the scalar set's. Only checks whose name contains `filter`.
void cpu_self_test(const std::string& filter, const OnCheckResult& on_result);

}  // namespace starpo
