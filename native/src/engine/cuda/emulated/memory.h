#pragma once

#include <cstddef>

namespace starpo::cuda::emulated {

inline constexpr std::size_t default_device_memory = std::size_t{8} << 30;

// How much memory the emulated device seems to have, for tests of what doesn't fit.
void set_device_memory(std::size_t bytes);

}  // namespace starpo::cuda::emulated
