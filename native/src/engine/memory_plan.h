#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/config.h"

namespace starpo {

// What a backward pass computes again rather than keeping it from the forward one.
enum class Recompute { none, elementwise, block };

// All that networks on a device will be asked for, so that a device with little memory can plan it, and take it once.
struct EngineNeeds {
  ModelConfig model;
  bool trains_policy = false;
  bool trains_critic = false;  // a full one
  bool reads_reference = false;
  bool reads_start = false;  // weights that the run began with, kept beside a reference
  int slots = 0;             // of the generator; 0: there is none
  int groups = 0;            // whose prompts are shared at a time
  int context = 0;           // most tokens of a slot
  int pass_tokens = 0;       // most tokens of a micro-batch
  Recompute recompute = Recompute::none;
};

// When a part is needed. Rollout and update never overlap, so that what either needs takes the same place.
enum class MemoryLifetime { run, rollout, update };

struct MemoryPart {
  std::string name;  // of docs/formats/journal.md, "Memory plan"
  MemoryLifetime lifetime;
  std::int64_t bytes;
};

// What a run takes of a device's memory, decided before its first iteration.
struct MemoryPlan {
  std::string device;             // cuda:0, cpu
  std::int64_t device_bytes = 0;  // all there is
  std::int64_t free_bytes = 0;    // before the run took any
  std::vector<MemoryPart> parts;

  std::int64_t bytes_of(MemoryLifetime lifetime) const {
    std::int64_t sum = 0;
    for (const MemoryPart& part : parts)
      if (part.lifetime == lifetime) sum += part.bytes;
    return sum;
  }

  std::int64_t total_bytes() const {
    return bytes_of(MemoryLifetime::run) +
           std::max(bytes_of(MemoryLifetime::rollout), bytes_of(MemoryLifetime::update));
  }
};

// "1.5 GiB"
std::string gibibytes(std::int64_t bytes);

// A sentence on a change of settings with which what they are planned to take fits `free_bytes`, cheapest first; or
// that none would do.
std::string setting_that_fits(const EngineNeeds&, const std::function<MemoryPlan(const EngineNeeds&)>& plan,
                              std::int64_t free_bytes);

// The plan as docs/formats/journal.md has it: one JSON object.
std::string memory_plan_json(const MemoryPlan&);

}  // namespace starpo
