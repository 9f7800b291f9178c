#pragma once

#include <string>
#include <string_view>

#include "journal/journal.h"

namespace starpo {

// A mean or share. If nothing was added, the metric is absent.
struct Average {
  double sum = 0;
  long count = 0;
  void add(double value) { sum += value, ++count; }
};

inline void set_average(Metrics& metrics, std::string_view name, const Average& average) {
  if (average.count > 0) metrics[std::string(name)] = average.sum / static_cast<double>(average.count);
}

}  // namespace starpo
