#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/network.h"
#include "workload.h"

namespace starpo {

// Measures CPU time of the process instead of wall time.
void use_processor_time();

// The response of a slot.
struct SampledResponse {
  std::vector<std::int32_t> ids;
  std::vector<float> logprobs;
};

// Plays a rollout as a run does, with a generator that it resets. Each group's prompt is computed once. Then each slot
// samples one token per step, with log-probability and entropy. Returns the time in seconds, and the response of the
// first slot.
double time_rollout(Generator&, const Workload&, std::uint32_t seed, SampledResponse& first);

// Returns medians over repeats without the first: "tokens_per_second", "seconds", and the largest difference between
// the log-probabilities of generator and training pass in the first slot ("forward_gap").
nlohmann::ordered_json measure_generation(Network&, const Workload&);

// Takes optimizer steps on the workload's sequences, in micro-batches of `micro_batch`. Returns "tokens_per_second",
// "seconds", and losses, gradient norm and log-probabilities, which show that it learns.
nlohmann::ordered_json measure_training(Network&, const Workload&, int micro_batch);

}  // namespace starpo
