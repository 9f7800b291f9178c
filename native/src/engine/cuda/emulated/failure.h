#pragma once

#include <cstdint>

namespace starpo::cuda::emulated {

enum class Failure {
  out_of_memory,  // of one call
  device,         // of every call from then on, as when a GPU has fallen off its bus
};

// The device's calls (kernels, copies, fills and allocations) fail after so many more. Holds until the guard goes.
class FailAfter {
 public:
  FailAfter(std::int64_t calls, Failure);
  ~FailAfter();
  FailAfter(const FailAfter&) = delete;
  FailAfter& operator=(const FailAfter&) = delete;
};

// Calls that the device has taken since the program began.
std::int64_t device_calls();

}  // namespace starpo::cuda::emulated
