#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starpo {

struct Processor {
  std::string name;
  int threads;  // that this process may use at once
  std::int64_t memory_bytes;
};

Processor describe_processor();

// Memory that this process may still take without swapping: what the kernel says is available, or what its control
// groups leave it, where that is less. root: of the system's files, for tests.
std::int64_t available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace starpo
