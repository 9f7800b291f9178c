#pragma once

#include <vector>

#include "thorough.h"

namespace starpo {

/// Returns thread orders of the emulation: ascending and descending threads with late and immediate copies, and random
/// warps. The test of all device checks runs random threads. Ordered warps differ less from these, so only thorough
/// tests run them.
inline std::vector<unsigned> thread_orders() {
  return is_thorough() ? std::vector<unsigned>{0, 1, 2, 3, 5, 6, 7} : std::vector<unsigned>{0, 1, 5};
}

}  // namespace starpo
