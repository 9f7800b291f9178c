#pragma once

#include <iosfwd>

#include "env/environment.h"

namespace starpo {

// Speaks docs/formats/env-protocol.md until it is closed or the input ends.
void serve_environment(Environment&, std::istream& requests, std::ostream& answers);

}  // namespace starpo
