#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/network.h"
#include "workload.h"

namespace starpo {

// Times are a clock's on the wall, or what the process has used of its processors.
void use_processor_time();

// What a slot said.
struct Reply {
  std::vector<std::int32_t> ids;
  std::vector<float> logprobs;
};

// Plays a rollout as a run does, with a generator that is made to forget the one before: each group's prompt once, then
// one token a slot a step, drawn, with its log-probability and the entropy. Gives seconds, and the first slot's reply.
double time_rollout(Generator&, const Workload&, std::uint32_t seed, Reply& first);

// Medians over repeats, the first left out. "tokens_per_second", "seconds", and how far the first slot's
// log-probabilities are from the training pass's ("forward_gap").
nlohmann::ordered_json measure_generation(Network&, const Workload&);

// Optimiser steps on the workload's sequences, `micro_batch` at a time: "tokens_per_second", "seconds", and what tells
// that it learns: losses, gradient norm, log-probabilities.
nlohmann::ordered_json measure_training(Network&, const Workload&, int micro_batch);

}  // namespace starpo
