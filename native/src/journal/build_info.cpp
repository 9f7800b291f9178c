#include "journal/build_info.h"

namespace starpo {

std::string_view build_version() { return STARPO_BUILD; }

}  // namespace starpo
