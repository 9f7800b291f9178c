#pragma once

#include <functional>
#include <string>

namespace starpo {

// The result of a self-test of one operation.
struct CheckResult {
  std::string name;
  double error;  // normalized mean square error, or 0/1 for bit equality; NaN if the check threw
  double tolerance;
  bool ok;
  std::string failure;  // message of the exception, or empty
};

using OnCheckResult = std::function<void(const CheckResult&)>;

// Returns sum((x - reference)^2) / sum(reference^2). NaN inputs give NaN, which exceeds every tolerance. If the
// reference is all zero, returns the numerator.
template <class Values, class Reference>
double normalized_mean_square_error(const Values& values, const Reference& reference) {
  double difference = 0, scale = 0;
  auto expected = reference.begin();
  for (const double value : values) {
    const double distance = value - *expected;
    difference += distance * distance;
    scale += *expected * *expected;
    ++expected;
  }
  return scale > 0 ? difference / scale : difference;
}

}  // namespace starpo
