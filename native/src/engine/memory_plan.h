#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace starpo {

// When a part is needed. Rollout and update never overlap, so that what either needs takes the same place.
enum class MemoryLifetime { run, rollout, update };

struct MemoryPart {
  std::string name;  // of docs/formats/journal.md, "Memory plan"
  MemoryLifetime lifetime;
  std::int64_t bytes;
};

// What a run takes of a device's memory, decided before its first iteration.
struct MemoryPlan {
  std::string device;             // cuda:0
  std::int64_t device_bytes = 0;  // all there is
  std::int64_t free_bytes = 0;    // before the run took any
  std::vector<MemoryPart> parts;

  std::int64_t bytes_of(MemoryLifetime lifetime) const {
    std::int64_t sum = 0;
    for (const MemoryPart& part : parts)
      if (part.lifetime == lifetime) sum += part.bytes;
    return sum;
  }

  std::int64_t total_bytes() const { return bytes_of(MemoryLifetime::run) + std::max(bytes_of(MemoryLifetime::rollout), bytes_of(MemoryLifetime::update)); }
};

// The plan as docs/formats/journal.md has it: one JSON object.
std::string memory_plan_json(const MemoryPlan&);

}  // namespace starpo
