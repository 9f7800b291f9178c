#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/trainable.h"

namespace starpo {

// AdamW (Loshchilov & Hutter, arXiv 1711.05101, algorithm 2) over one flat buffer. Weight decay skips tensors of one dimension (norms, biases): `decayed` holds one flag a weight.
class AdamW {
 public:
  explicit AdamW(std::size_t size);

  // One step; gradients are clipped by global norm. Returns the norm before clipping (non-finite gradients: returns the non-finite norm and changes nothing).
  float step(std::span<float> weights, std::span<const float> gradients, std::span<const std::uint8_t> decayed, const AdamWSettings&, ThreadPool&);

  std::int64_t steps = 0;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
};

}  // namespace starpo
