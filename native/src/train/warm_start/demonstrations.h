#pragma once

#include "base/philox.h"
#include "train/run/playground.h"
#include "train/update/sequence.h"

namespace starpo {

// Plays demonstration number `index` of a warm start: environment by share, level, style of thought and plan are functions of the seed and the index.
// The styles differ on purpose and some plans are bad, so that the policy starts with ways of thinking to choose between: what reinforcement then does is choose.
Episode play_demonstration(const RunConfig&, const Playground&, std::uint64_t index);

}  // namespace starpo
