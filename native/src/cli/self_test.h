#pragma once

#include <string>

namespace starpo {

// Runs the engine's checks on `device`: cpu, cuda:N, or auto (the first GPU that can be used, else the processor). Prints a table, or JSON
// lines (docs/formats/devices.md). Returns 1 where a check failed. Errors: device_unavailable, check_unknown.
int self_test_command(const std::string& device, const std::string& filter, bool json);

}  // namespace starpo
