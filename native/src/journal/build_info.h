#pragma once

#include <string_view>

namespace starpo {

// The checkout's commit at the time of the build, as `git describe --always` names it, with "-dirty" where tracked files differ; empty outside a git checkout.
std::string_view build_version();

}  // namespace starpo
