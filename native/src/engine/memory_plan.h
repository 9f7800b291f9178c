#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/config.h"

namespace starpo {

// Activations that the backward pass recomputes instead of keeping them from the forward pass.
enum class Recompute { none, elementwise, block };

// The requirements of all networks on a device, for planning its memory.
struct EngineNeeds {
  ModelConfig model;
  bool trains_policy = false;
  bool trains_critic = false;  // a full critic
  bool reads_reference = false;
  bool reads_start = false;  // initial weights of the run, in addition to a reference
  int slots = 0;             // of the generator; 0: no generator
  int groups = 0;            // groups that share prompts at a time
  int context = 0;           // maximum tokens per slot
  int pass_tokens = 0;       // maximum tokens per micro-batch
  Recompute recompute = Recompute::none;
};

// When a part is needed. Rollout and update never overlap, so they share memory.
enum class MemoryLifetime { run, rollout, update };

struct MemoryPart {
  std::string name;  // as in docs/formats/journal.md, "Memory plan"
  MemoryLifetime lifetime;
  std::int64_t bytes;
};

// A run's memory use on a device, planned before its first iteration.
struct MemoryPlan {
  std::string device;             // cuda:0, cpu
  std::int64_t device_bytes = 0;  // total memory
  std::int64_t free_bytes = 0;    // before the run allocates
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

// Returns a hint with the cheapest change of settings whose plan fits `free_bytes`, or with general advice if none fits
// or nothing is trained.
std::string setting_that_fits(const EngineNeeds&, const std::function<MemoryPlan(const EngineNeeds&)>& plan,
                              std::int64_t free_bytes);

// Returns the plan as a JSON object (docs/formats/journal.md).
std::string memory_plan_json(const MemoryPlan&);

}  // namespace starpo
