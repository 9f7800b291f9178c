#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

// Time and build version, as written into records.
namespace starpo {

inline std::int64_t milliseconds_since_epoch() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// The version in package.json and the commit of the build, such as "1.0.0-beta.1+2dc40abc-dirty" ("-dirty": tracked
// files differed). The commit is omitted outside a git checkout.
std::string_view build_version();

}  // namespace starpo
