#pragma once

// The CUDA API for kernel sources: the real one under nvcc. With STARPO_EMULATED it is the emulation, which runs the
// same source on the CPU, thread by thread.

#ifdef STARPO_EMULATED
#include "engine/cuda/emulated/builtins.h"
#else
#include <cuda_runtime.h>
#endif

#include "engine/cuda/runtime/launch.h"
#include "engine/cuda/runtime/stream.h"

#ifdef STARPO_EMULATED

#define STARPO_JOIN_(a, b) a##b
#define STARPO_JOIN(a, b) STARPO_JOIN_(a, b)
// &__VA_ARGS__ is the end of an array (`&x[n]` for `float x[n]`) or the start of any other variable.
#define STARPO_SHARED(type, ...)                                                                                     \
  alignas(16) static thread_local type __VA_ARGS__;                                                                  \
  struct STARPO_JOIN(SharedVariable, __LINE__) {                                                                     \
    type __VA_ARGS__;                                                                                                \
  };                                                                                                                 \
  static_assert(::starpo::cuda::array_dimensions(#__VA_ARGS__) <= 1, "shared arrays must be one-dimensional");       \
  ::starpo::cuda::emulated::declare_shared(                                                                          \
      reinterpret_cast<char*>(&__VA_ARGS__) -                                                                        \
          (::starpo::cuda::array_dimensions(#__VA_ARGS__) == 1 ? sizeof(STARPO_JOIN(SharedVariable, __LINE__)) : 0), \
      sizeof(STARPO_JOIN(SharedVariable, __LINE__)))
#define STARPO_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::starpo::cuda::emulated::dynamic_shared())

namespace starpo::cuda {
constexpr int array_dimensions(const char* declarator) {
  int count = 0;
  for (; *declarator; ++declarator) count += *declarator == '[';
  return count;
}
}  // namespace starpo::cuda

#else

// Declares a shared variable of the block: STARPO_SHARED(float, partial[32]). Arrays have one dimension.
#define STARPO_SHARED(type, ...) __shared__ __align__(16) type __VA_ARGS__
// Declares `type* name`, the launch's dynamic shared memory, aligned to 128 bytes.
#define STARPO_DYNAMIC_SHARED(type, name)                                 \
  extern __shared__ __align__(128) unsigned char starpo_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(starpo_dynamic_shared)

#endif

// STARPO_LAUNCH(stream, grid, block, shared_bytes, (kernel<template, arguments>), arguments...)
#define STARPO_LAUNCH(stream, grid, block, shared_bytes, kernel, ...) \
  ::starpo::cuda::launch(stream, #kernel, grid, block, shared_bytes, kernel __VA_OPT__(, ) __VA_ARGS__)
