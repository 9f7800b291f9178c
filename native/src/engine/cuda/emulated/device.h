#pragma once

#include <cstddef>
#include <cstdint>

// What a test makes of the emulated device, and what it has seen of its callers.
namespace starpo::cuda::emulated {

inline constexpr std::size_t kDefaultDeviceMemory = std::size_t{8} << 30;

// How much memory the emulated device seems to have, for tests of what doesn't fit.
void set_device_memory(std::size_t bytes);

// Copies between the device and ordinary memory of the host since the program began: a real device stages each, and the
// host waits for it.
std::int64_t staged_copies();

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
