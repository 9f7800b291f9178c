#pragma once

#include <cstdint>

#include "config/run_config.h"
#include "engine/trainable.h"

namespace starpo {

// Returns the policy's learning rate for an optimizer step: optimizer.learning_rate with linear warm-up over steps (the
// first has 1 / (warmup + 1) of it), times the schedule's factor for the iteration.
double learning_rate(const RunConfig&, int iteration, std::int64_t steps_done);

// Applies one AdamW step to the policy. Returns the gradient norm before clipping. Errors: non_finite_gradient,
// non_finite_weight.
double optimizer_step(const RunConfig&, Trainable& policy, int iteration);

// Applies one AdamW step to the critic, with its own learning rate and gradient clip.
double critic_step(const RunConfig&, Trainable& critic, int iteration);

}  // namespace starpo
