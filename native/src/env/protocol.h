#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "env/environment.h"

namespace starpo {

// Speaks docs/formats/env-protocol.md until it is closed or the input ends. noise_seed: of the slips and payouts, each
// level's its own; nothing: the reference's.
void serve_environment(Environment&, std::optional<std::uint32_t> noise_seed, std::istream& requests,
                       std::ostream& answers);

}  // namespace starpo
