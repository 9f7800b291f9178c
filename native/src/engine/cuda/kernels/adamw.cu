#include "engine/cuda/kernels/adamw.h"

#include <algorithm>

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {
namespace {

constexpr int kAdamWThreads = 256;

__device__ __forceinline__ bool is_finite(float x) { return x - x == 0; }

// Returns the sum of `own` over the block, for all threads. A tree in shared memory fixes the order of summation.
// scratch: [kAdamWThreads].
__device__ __forceinline__ double block_total(double own, double* scratch) {
  scratch[threadIdx.x] = own;
  __syncthreads();
  for (int distance = kAdamWThreads / 2; distance > 0; distance /= 2) {
    if (static_cast<int>(threadIdx.x) < distance) scratch[threadIdx.x] += scratch[threadIdx.x + distance];
    __syncthreads();
  }
  return scratch[0];
}

// partials[block] = sum of g^2 over the block's elements, by a grid-stride loop over groups of eight. The grid depends
// only on `size`, so the order of summation is fixed. Squares are summed in fp32 within a group and in double across
// groups.
__global__ void __launch_bounds__(kAdamWThreads)
    squares_kernel(std::size_t size, const float* gradients, double* partials) {
  STARPO_SHARED(double, scratch[kAdamWThreads]);
  const std::size_t groups = (size + 7) / 8;
  double sum = 0;
  for (std::size_t group = static_cast<std::size_t>(blockIdx.x) * kAdamWThreads + threadIdx.x; group < groups;
       group += static_cast<std::size_t>(gridDim.x) * kAdamWThreads) {
    float g[8], squares = 0;
    const int length = static_cast<int>(min(size - group * 8, std::size_t{8}));
    load_group(gradients + group * 8, 0, length, true, 0.0f, g);
#pragma unroll
    for (int i = 0; i < 8; ++i) squares = fmaf(g[i], g[i], squares);
    sum += squares;
  }
  const double total = block_total(sum, scratch);
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

// report->squared_norm = sum of partials [count]. One block.
__global__ void __launch_bounds__(kAdamWThreads) norm_kernel(int count, const double* partials, StepReport* report) {
  STARPO_SHARED(double, scratch[kAdamWThreads]);
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += kAdamWThreads) sum += partials[i];
  const double total = block_total(sum, scratch);
  if (threadIdx.x != 0) return;
  report->squared_norm = total;
  report->non_finite_weights = 0;
}

struct AdamWFactors {
  float gradient_scale, beta1, one_minus_beta1, beta2, one_minus_beta2, learning_rate, epsilon;
  float decay;                                // learning_rate * weight_decay
  float first_correction, second_correction;  // 1 / (1 - beta^t)
};

// With g = gradient * gradient_scale:
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   w = w - learning_rate * weight_decay * w   (decayed parameters only)
//   w = w - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
// One thread per group of eight elements. Multiply-adds are explicit fmaf, so that all compilers round alike.
__global__ void __launch_bounds__(kAdamWThreads)
    adamw_kernel(std::size_t size, AdamWBuffers buffers, AdamWFactors s, StepReport* report) {
  const std::size_t group = static_cast<std::size_t>(blockIdx.x) * kAdamWThreads + threadIdx.x, first = group * 8;
  if (first >= size) return;
  const int length = static_cast<int>(min(size - first, std::size_t{8}));
  float g[8], m[8], v[8], w[8];
  load_group(buffers.gradients + first, 0, length, true, 0.0f, g);
  load_group(buffers.first_moment + first, 0, length, true, 0.0f, m);
  load_group(buffers.second_moment + first, 0, length, true, 0.0f, v);
  load_group(buffers.weights + first, 0, length, true, 0.0f, w);
  const float decay = buffers.decayed[group] ? -s.decay : 0.0f;
  bool finite = true;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float gradient = g[i] * s.gradient_scale;
    m[i] = fmaf(s.beta1, m[i], s.one_minus_beta1 * gradient);
    v[i] = fmaf(s.beta2, v[i], s.one_minus_beta2 * (gradient * gradient));
    w[i] = fmaf(decay, w[i], w[i]);
    w[i] = fmaf(-s.learning_rate, (m[i] * s.first_correction) / (sqrtf(v[i] * s.second_correction) + s.epsilon), w[i]);
    finite = finite && is_finite(w[i]);
  }
  store_group(buffers.first_moment + first, 0, length, true, m);
  store_group(buffers.second_moment + first, 0, length, true, v);
  store_group(buffers.weights + first, 0, length, true, w);
  if (buffers.rounded != nullptr) store_group(buffers.rounded + first, 0, length, true, w);
  if (!finite) atomicMax(&report->non_finite_weights, 1);
}

// The number of blocks with one thread per group of eight elements.
unsigned blocks_of(std::size_t size) {
  return static_cast<unsigned>((size + kAdamWThreads * 8 - 1) / (kAdamWThreads * 8));
}

}  // namespace

void squared_norm(Stream& stream, std::size_t size, const float* gradients, double* partials, StepReport* report) {
  const int blocks = static_cast<int>(std::min<unsigned>(kNormPartials, blocks_of(size)));
  STARPO_LAUNCH(stream, blocks, kAdamWThreads, 0, (squares_kernel), size, gradients, partials);
  STARPO_LAUNCH(stream, 1, kAdamWThreads, 0, (norm_kernel), blocks, partials, report);
}

void adamw(Stream& stream, std::size_t size, const AdamWBuffers& buffers, const AdamWSettings& settings,
           float gradient_scale, std::int64_t steps, StepReport* report) {
  const AdamWFactors factors{.gradient_scale = gradient_scale,
                             .beta1 = settings.beta1,
                             .one_minus_beta1 = 1.0f - settings.beta1,
                             .beta2 = settings.beta2,
                             .one_minus_beta2 = 1.0f - settings.beta2,
                             .learning_rate = settings.learning_rate,
                             .epsilon = settings.epsilon,
                             .decay = settings.learning_rate * settings.weight_decay,
                             .first_correction = bias_correction(settings.beta1, steps),
                             .second_correction = bias_correction(settings.beta2, steps)};
  STARPO_LAUNCH(stream, blocks_of(size), kAdamWThreads, 0, (adamw_kernel), size, buffers, factors, report);
}

}  // namespace starpo::cuda
