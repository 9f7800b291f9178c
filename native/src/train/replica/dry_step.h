#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "train/replica/replica.h"

namespace starpo {

// Allocates the peak device memory of a run before it starts: runs the largest micro-batch forward and backward through
// policy and critic, forward through reference and start weights if there are copies, with loss weight 0, and decodes a
// token with all slots busy, then with fewer. Configurations that do not fit or run fail here. Learns nothing, clears
// gradients and resets the generator. progress is called after each of `total` steps. Errors: gpu_out_of_memory,
// gpu_failed.
void dry_step(const RunConfig&, Replica&, std::span<const std::int32_t> stop_ids,
              const std::function<void(int done, int total)>& progress);

}  // namespace starpo
