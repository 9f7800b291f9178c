#pragma once

#include <cstddef>

namespace starpo::cuda::emulated {

// How much memory the emulated device seems to have, for tests of what doesn't fit. 8 GiB unless set.
void set_device_memory(std::size_t bytes);

}  // namespace starpo::cuda::emulated
