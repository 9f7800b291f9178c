#pragma once

#include <cstddef>
#include <cstdint>

namespace starpo::cuda::emulated {

inline constexpr std::size_t default_device_memory = std::size_t{8} << 30;

// How much memory the emulated device seems to have, for tests of what doesn't fit.
void set_device_memory(std::size_t bytes);

// Copies between the device and ordinary memory of the host since the program began: a real device stages each, and the host waits for it.
std::int64_t staged_copies();

}  // namespace starpo::cuda::emulated
