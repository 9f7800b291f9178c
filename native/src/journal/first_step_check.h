#pragma once

#include <optional>
#include <string>

namespace starpo {

enum class Verdict { ok, suspicious, wrong };

// One line of the first-step check: a measurement of a run's first update against its usual range.
struct FirstStepCheck {
  std::string name;   // gradient_norm
  std::string title;  // Gradient norm
  std::string unit;   // nats, share; empty for dimensionless numbers
  std::optional<double> value;
  double low = 0, high = 0;  // usual range, inclusive
  Verdict verdict = Verdict::ok;
  std::string message;
  std::string setting;  // path in run.json of the setting to change; empty if the verdict is ok
};

}  // namespace starpo
