#pragma once

#include "train/run/trainer_state.h"

namespace starpo {

// One AdamW step on the run's policy with the iteration's learning rate. Returns the gradient norm before clipping.
// Errors: non_finite_gradient, non_finite_weight.
double optimizer_step(TrainerState&, int iteration);

// The same on its critic, with the critic's own learning rate and gradient clip.
double critic_step(TrainerState&, int iteration);

}  // namespace starpo
