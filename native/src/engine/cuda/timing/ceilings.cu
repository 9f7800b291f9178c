#include "engine/cuda/timing/ceilings.h"

#include <algorithm>

#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/portable/tensor_core.h"

namespace starpo::cuda {
namespace {

constexpr int kCeilingThreads = 256;
constexpr int kProducts = 8;        // independent chains per warp, which hide the latency of a product
constexpr float kNever = 1.25e30f;  // no sum has this value, but the compiler must assume so

__global__ void __launch_bounds__(kCeilingThreads)
    read_memory_kernel(const float4* data, std::size_t count, float* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kCeilingThreads;
  float sum = 0;
#pragma unroll 4
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kCeilingThreads + threadIdx.x; i < count; i += stride) {
    const float4 values = data[i];
    sum += values.x + values.y + values.z + values.w;
  }
  if (sum == kNever) *sink = sum;
}

__global__ void __launch_bounds__(kCeilingThreads, 2) multiply_registers_kernel(int steps, float* sink) {
  float sums[kProducts][4] = {};
  const unsigned one = 0x3f803f80;  // two bf16
  const unsigned a[4] = {one, one + threadIdx.x, one, one}, b[2] = {one, one + threadIdx.x};
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (auto& sum : sums) mma_m16n8k16(sum, a, b);
  float total = 0;
#pragma unroll
  for (const auto& sum : sums) total += sum[0] + sum[1] + sum[2] + sum[3];
  if (total == kNever) *sink = total;
}

}  // namespace

void read_memory(Stream& stream, const float* data, std::size_t bytes, float* sink) {
  const std::size_t count = bytes / sizeof(float4);
  const auto blocks =
      static_cast<unsigned>(std::min<std::size_t>(132 * 16, (count + kCeilingThreads - 1) / kCeilingThreads));
  STARPO_LAUNCH(stream, blocks, kCeilingThreads, 0, (read_memory_kernel), reinterpret_cast<const float4*>(data), count,
                sink);
}

double multiply_registers(Stream& stream, int multiprocessors, int steps, float* sink) {
  const auto blocks = static_cast<unsigned>(2 * multiprocessors);
  STARPO_LAUNCH(stream, blocks, kCeilingThreads, 0, (multiply_registers_kernel), steps, sink);
  constexpr double kOperations = 2.0 * 16 * 8 * 16;
  return kOperations * kProducts * steps * (kCeilingThreads / 32.0) * blocks;
}

}  // namespace starpo::cuda
