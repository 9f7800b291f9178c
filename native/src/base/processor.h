#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starpo {

struct Processor {
  std::string name;
  int threads;                // as available_threads returns
  std::int64_t memory_bytes;  // as total_memory_bytes returns
};

Processor describe_processor();

// The limits of a container or job apply: control groups (versions 1 and 2), RLIMIT_AS and processor affinity.
// root: folder that contains proc and sys, for tests.

// Returns the bytes that this process can still allocate without swapping.
std::int64_t available_memory_bytes(const std::filesystem::path& root = "/");

// Returns the bytes that this process could allocate if nothing else ran.
std::int64_t total_memory_bytes(const std::filesystem::path& root = "/");

// Returns the number of threads that can run at a time; a quota of 1.5 processors counts as 2.
int available_threads(const std::filesystem::path& root = "/");

}  // namespace starpo
