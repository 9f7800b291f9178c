#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

// What a record says of when it was written, and by what.
namespace starpo {

inline std::int64_t milliseconds_since_epoch() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// The checkout's commit at the time of the build, as `git describe --always` names it, with "-dirty" where tracked
// files differ; empty outside a git checkout.
std::string_view build_version();

}  // namespace starpo
