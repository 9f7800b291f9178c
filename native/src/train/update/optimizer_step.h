#pragma once

#include <cstdint>

#include "config/run_config.h"
#include "engine/trainable.h"

namespace starpo {

// The policy's, as one optimiser step has it: optimizer.learning_rate with linear warm-up over steps (the first has 1 /
// (warmup + 1) of it), times the schedule's factor of the iteration.
double learning_rate(const RunConfig&, int iteration, std::int64_t steps_done);

// One AdamW step on a policy with the iteration's learning rate. Returns the gradient norm before clipping.
// Errors: non_finite_gradient, non_finite_weight.
double optimizer_step(const RunConfig&, Trainable& policy, int iteration);

// The same on a critic, with its own learning rate and gradient clip.
double critic_step(const RunConfig&, Trainable& critic, int iteration);

}  // namespace starpo
