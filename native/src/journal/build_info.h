#pragma once

#include <string_view>

namespace starpo {

// The source's version as `git describe --always --dirty` gave it when the build was configured; empty outside a git checkout.
std::string_view build_version();

}  // namespace starpo
