#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "env/environment.h"

namespace starpo {

// Serves the protocol of docs/formats/env-protocol.md until a close request or the end of the input. noise_seed: seed
// for slips and payouts per level; nullopt: the level's own random numbers, as in RAGEN.
void serve_environment(Environment&, std::optional<std::uint32_t> noise_seed, std::istream& requests,
                       std::ostream& answers);

}  // namespace starpo
