#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/selftest/check.h"

namespace starpo::cuda {

struct CheckResult {
  std::string name;
  double error;  // NaN where the check threw
  double tolerance;
  bool ok;
  std::string failure;  // what it threw; else empty
};

using OnResult = std::function<void(const CheckResult&)>;

// Runs the checks whose name contains `filter`, and tells of each as it ends. One that throws has failed and the next still runs.
void run_checks(const std::vector<Check>& checks, const std::string& filter, Stream& stream, const OnResult& on_result);

// run_checks with every check, on a device of the machine. Throws Error device_unavailable.
void self_test(int device, const std::string& filter, const OnResult& on_result);

}  // namespace starpo::cuda
