#pragma once

namespace starpo {

// Prints the processor and every CUDA device, or why there is none (docs/formats/devices.md).
int devices_command(bool json);

}  // namespace starpo
