#pragma once

#include <string>

#include "base/error.h"

namespace starpo::cuda {

// Return the errors of a real or emulated GPU. what: the failed call and the driver's message.
inline Error out_of_memory_error(const std::string& what) {
  return Error("gpu_out_of_memory", "out of GPU memory: " + what,
               "close other programs that use the GPU; for training, reduce rollout.slots, or set "
               "optimizer.micro_batch_tokens to a smaller number, down to rollout.context (0 means automatic)");
}

inline Error device_error(const std::string& what) {
  return Error("gpu_failed", "the GPU failed at " + what,
               "check nvidia-smi and the kernel log (dmesg), then try again; a run resumes from its last checkpoint");
}

}  // namespace starpo::cuda
