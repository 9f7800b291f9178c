#pragma once

#include <string>

#include "base/error.h"

namespace starpo::cuda {

// What a GPU's failures are called, on a real one and in the emulation, and what to do about them. what: the call and
// the driver's words.
inline Error memory_used_up(const std::string& what) {
  return Error("gpu_out_of_memory", "the GPU's memory is used up: " + what,
               "use fewer rollout.slots or a smaller optimizer.micro_batch_tokens, or end other programs on the GPU");
}

inline Error device_failed(const std::string& what) {
  return Error("gpu_failed", "the GPU failed at " + what,
               "check nvidia-smi and the kernel's messages (dmesg); the run goes on from its last checkpoint when it "
               "is started again");
}

}  // namespace starpo::cuda
