#pragma once

#include <cstddef>

#include "engine/cuda/runtime/stream.h"

// Kernels that reach the two ceilings of a GPU, to which other kernels are compared.
namespace starpo::cuda {

// Reads `bytes` (a multiple of 16) of device memory and does nothing else. sink: device memory, not written.
void read_memory(Stream&, const float* data, std::size_t bytes, float* sink);

// Multiplies on the tensor cores with bf16 operands in registers. Returns the number of operations: two per
// multiply-add.
double multiply_registers(Stream&, int multiprocessors, int steps, float* sink);

}  // namespace starpo::cuda
