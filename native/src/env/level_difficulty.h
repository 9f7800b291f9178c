#pragma once

#include <optional>

#include "env/environment.h"

namespace starpo {

// Returns the difficulty of a level: the log probability, at least log kMinSuccessProbability, that uniformly random
// actions solve it within `actions` steps. Higher is easier. Metrics use it to correct for the levels of an iteration.
// States are identified by their boards, and each is expanded once. Returns nothing for environments that are
// stochastic, have no board or take free text, and for levels with more than a few thousand states. `start`: after
// reset.
std::optional<double> log_random_success(const Environment& start, int actions);

inline constexpr double kMinSuccessProbability = 0.001;

}  // namespace starpo
