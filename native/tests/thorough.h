#pragma once

#include <cstdlib>
#include <string_view>

namespace starpo {

/// Returns true in `npm run nightly:tests`, where tests use more cases, random inputs and data than in `npm test`.
inline bool is_thorough() {
  const char* value = std::getenv("STARPO_THOROUGH");
  return value && std::string_view(value) == "1";
}

}  // namespace starpo
