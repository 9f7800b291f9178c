#pragma once

#include "config/run_config.h"
#include "engine/trainable.h"

namespace starpo {

// One AdamW step on a policy with the iteration's learning rate. Returns the gradient norm before clipping.
// Errors: non_finite_gradient, non_finite_weight.
double optimizer_step(const RunConfig&, Trainable& policy, int iteration);

// The same on a critic, with its own learning rate and gradient clip.
double critic_step(const RunConfig&, Trainable& critic, int iteration);

}  // namespace starpo
