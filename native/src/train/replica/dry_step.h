#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "train/replica/replica.h"

namespace starpo {

// Asks a device for all that a run can ask of it at a time, before the run begins: the largest micro-batch goes forward
// and backward through policy and critic (and forward through reference and start, where there are copies of them) with
// a loss of weight 0, and the generator chooses a token with all slots busy. What doesn't fit, or doesn't run, fails
// here. Nothing is learned, gradients are cleared, and the generator is as if new. progress: after each of the `total`
// parts. Errors: the device's, gpu_out_of_memory and gpu_failed.
void dry_step(const RunConfig&, Replica&, std::span<const std::int32_t> stop_ids,
              const std::function<void(int done, int total)>& progress);

}  // namespace starpo
