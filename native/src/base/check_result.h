#pragma once

#include <functional>
#include <string>

namespace starpo {

// What a self-test found of one operation.
struct CheckResult {
  std::string name;
  double error;  // normalised mean square error, or where bits must be equal 0, else 1; NaN where the check threw
  double tolerance;
  bool ok;
  std::string failure;  // what it threw; else empty
};

using OnCheckResult = std::function<void(const CheckResult&)>;

// sum((x - reference)^2) / sum(reference^2). NaN in either place makes it NaN, which no tolerance admits. An all-zero
// reference asks for exact zeros.
template <class Values, class Reference>
double normalised_mean_square_error(const Values& values, const Reference& reference) {
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
