#pragma once

#include <cstddef>
#include <cstdint>

// Controls and counters of the emulated device, for tests.
namespace starpo::cuda::emulated {

inline constexpr std::size_t kDefaultDeviceMemory = std::size_t{8} << 30;

// Sets the memory size of the emulated device.
void set_device_memory(std::size_t bytes);

// Sets the number of emulated devices, 1 by default. Work for a stream fails if its device isn't current.
void set_devices(int count);

// Returns the number of copies between the device and pageable host memory since the program started. A real device
// stages each of them, and the host waits.
std::int64_t staged_copies();

enum class Failure {
  out_of_memory,  // one call fails
  device,         // all later calls fail, as when a GPU has fallen off the bus
};

// Makes calls (kernels, copies, fills and allocations) fail after `calls` more, until the guard is destroyed.
class FailAfter {
 public:
  FailAfter(std::int64_t calls, Failure);
  ~FailAfter();
  FailAfter(const FailAfter&) = delete;
  FailAfter& operator=(const FailAfter&) = delete;
};

// Returns the number of calls since the program started.
std::int64_t device_calls();

}  // namespace starpo::cuda::emulated
