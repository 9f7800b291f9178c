#pragma once

#include "engine/cuda/runtime/stream.h"

// Implements STARPO_LAUNCH. portable/cuda.h includes it after the declarations of CUDA or the emulation.

#ifdef STARPO_EMULATED

#include <functional>
#include <tuple>

#include "engine/cuda/emulated/thread.h"

namespace starpo::cuda {

void submit(Stream& stream, std::function<void()> work);
// Throws std::logic_error if a kernel that never ran is captured into a graph.
void load_kernel(Stream& stream, const void* kernel, const char* name);

template <class... Parameters, class... Arguments>
void launch(Stream& stream, const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  use_device(stream.device());
  load_kernel(stream, reinterpret_cast<const void*>(kernel), name);
  submit(stream, [=, values = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)] {
    emulated::run_grid(name, grid, block, shared_bytes, [&] { std::apply(kernel, values); });
  });
}

}  // namespace starpo::cuda

#else

namespace starpo::cuda {

void check(cudaError_t error, const char* what);  // throws Error
void allow_dynamic_shared(const void* kernel, std::size_t bytes, const char* name);

template <class... Parameters, class... Arguments>
void launch(Stream& stream, const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  use_device(stream.device());
  constexpr std::size_t always_allowed = 48 * 1024;
  if (shared_bytes > always_allowed) allow_dynamic_shared(reinterpret_cast<const void*>(kernel), shared_bytes, name);
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream.handle();
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

}  // namespace starpo::cuda

#endif
