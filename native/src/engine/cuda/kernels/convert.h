#pragma once

#include <cstddef>

#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

// to[i] = from[i], rounded to T (Bf16 or float). Pointers are device memory, aligned to 16 bytes.
template <class T>
void convert(Stream&, std::size_t count, const float* from, T* to);

}  // namespace starpo::cuda
