#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "env/environment.h"

namespace starpo {

// Serves the protocol of docs/formats/env-protocol.md until it is closed or the input ends. noise_seed: seed of slips
// and payouts per level; nothing: the level's own random numbers, as in the reference.
void serve_environment(Environment&, std::optional<std::uint32_t> noise_seed, std::istream& requests,
                       std::ostream& answers);

}  // namespace starpo
