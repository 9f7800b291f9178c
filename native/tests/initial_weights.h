#pragma once

#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "model/parameters.h"

namespace starpo {

// Returns all initial weights of a layout.
inline std::vector<float> initial_weights(const ParameterLayout& layout, std::uint32_t seed, int threads = 1) {
  ThreadPool pool(threads);
  std::vector<float> weights(layout.size());
  write_initial_weights(layout, seed, pool, [&](std::size_t first, std::span<const float> values) {
    std::ranges::copy(values, weights.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return weights;
}

}  // namespace starpo
