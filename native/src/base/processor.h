#pragma once

#include <cstdint>
#include <string>

namespace starpo {

struct Processor {
  std::string name;
  int threads;  // that this process may use at once
  std::int64_t memory_bytes;
};

Processor describe_processor();

}  // namespace starpo
