#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starpo {

struct Processor {
  std::string name;
  int threads;  // available to this process
  std::int64_t memory_bytes;
};

Processor describe_processor();

// Returns the bytes that this process can still allocate without swapping: the kernel's MemAvailable, limited by the
// control groups. root: folder that contains proc and sys, for tests.
std::int64_t available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace starpo
