#include "engine/cuda/selftest/increment.h"
#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {
namespace {

constexpr int kBlockThreads = 128;

__global__ void __launch_bounds__(kBlockThreads) increment_kernel(float* values, int count, float by) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += by;
}

}  // namespace

void increment(Stream& stream, float* values, int count, float by) {
  STARPO_LAUNCH(stream, (count + kBlockThreads - 1) / kBlockThreads, kBlockThreads, 0, increment_kernel, values, count,
                by);
}

}  // namespace starpo::cuda
