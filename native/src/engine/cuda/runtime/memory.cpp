#include "engine/cuda/runtime/memory.h"

#include <stdexcept>
#include <string>

namespace starpo::cuda {

void throw_out_of_bounds(std::size_t count, std::size_t size) {
  throw std::out_of_range("a copy of " + std::to_string(count) + " elements into or out of a device buffer of " +
                          std::to_string(size));
}

}  // namespace starpo::cuda
