#pragma once

#include <cstdint>

namespace starpo {

// Returns whether statfs's f_type identifies a file system that several machines share. Their clients cache writes and
// attributes, so that others see them late.
bool is_network_file_system(std::uint32_t type);

// Returns whether an open file is on one; false if that is unknown.
bool is_on_network(int descriptor);

}  // namespace starpo
