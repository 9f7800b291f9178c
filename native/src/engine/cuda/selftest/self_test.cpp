#include "engine/cuda/selftest/self_test.h"

#include <limits>

namespace starpo::cuda {

void run_checks(const std::vector<Check>& checks, const std::string& filter, Stream& stream,
                const OnCheckResult& on_result) {
  for (const auto& check : checks) {
    if (check.name.find(filter) == std::string::npos) continue;
    CheckResult result{check.name, std::numeric_limits<double>::quiet_NaN(), check.tolerance, false, ""};
    try {
      result.error = check.error(stream);
      result.ok = result.error <= check.tolerance;
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
    on_result(result);
  }
}

void self_test(int device, const std::string& filter, const OnCheckResult& on_result) {
  Stream stream(device);
  run_checks(every_check(), filter, stream, on_result);
}

}  // namespace starpo::cuda
