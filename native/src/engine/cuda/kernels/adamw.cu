#include "engine/cuda/kernels/adamw.h"

#include <algorithm>

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {
namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ bool is_finite(float x) { return x - x == 0; }

// In doubles, the thread's sum in `own` with those of all threads: pairs at a growing distance.
__device__ __forceinline__ double block_total(double own, double* scratch) {
  scratch[threadIdx.x] = own;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (static_cast<int>(threadIdx.x) < distance) scratch[threadIdx.x] += scratch[threadIdx.x + distance];
    __syncthreads();
  }
  return scratch[0];
}

// Each thread takes groups of eight, a grid apart. The number of blocks depends on nothing but the size, so the sum's
// order does neither.
__global__ void __launch_bounds__(kThreads) squares_kernel(std::size_t size, const float* gradients, double* partials) {
  STARPO_SHARED(double, scratch[kThreads]);
  const std::size_t groups = (size + 7) / 8;
  double sum = 0;
  for (std::size_t group = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; group < groups;
       group += static_cast<std::size_t>(gridDim.x) * kThreads) {
    float g[8], squares = 0;
    const int left = static_cast<int>(min(size - group * 8, std::size_t{8}));
    load_eight_of(gradients + group * 8, 0, left, true, 0.0f, g);
#pragma unroll
    for (int i = 0; i < 8; ++i) squares = fmaf(g[i], g[i], squares);
    sum += squares;
  }
  const double total = block_total(sum, scratch);
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads) norm_kernel(int count, const double* partials, StepReport* report) {
  STARPO_SHARED(double, scratch[kThreads]);
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += partials[i];
  const double total = block_total(sum, scratch);
  if (threadIdx.x != 0) return;
  report->squared_norm = total;
  report->non_finite_weights = 0;
}

struct AdamWFactors {
  float gradient_scale, beta1, rest1, beta2, rest2, learning_rate, epsilon, decay, first_correction, second_correction;
};

__global__ void __launch_bounds__(kThreads)
    adamw_kernel(std::size_t size, AdamWBuffers buffers, AdamWFactors s, StepReport* report) {
  const std::size_t group = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x, first = group * 8;
  if (first >= size) return;
  const int left = static_cast<int>(min(size - first, std::size_t{8}));
  float g[8], m[8], v[8], w[8];
  load_eight_of(buffers.gradients + first, 0, left, true, 0.0f, g);
  load_eight_of(buffers.first_moment + first, 0, left, true, 0.0f, m);
  load_eight_of(buffers.second_moment + first, 0, left, true, 0.0f, v);
  load_eight_of(buffers.weights + first, 0, left, true, 0.0f, w);
  const float decay = buffers.decayed[group] ? -s.decay : 0.0f;
  bool finite = true;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float gradient = g[i] * s.gradient_scale;
    m[i] = fmaf(s.beta1, m[i], s.rest1 * gradient);
    v[i] = fmaf(s.beta2, v[i], s.rest2 * (gradient * gradient));
    w[i] = fmaf(decay, w[i], w[i]);
    w[i] = fmaf(-s.learning_rate, (m[i] * s.first_correction) / (sqrtf(v[i] * s.second_correction) + s.epsilon), w[i]);
    finite = finite && is_finite(w[i]);
  }
  store_eight_of(buffers.first_moment + first, 0, left, true, m);
  store_eight_of(buffers.second_moment + first, 0, left, true, v);
  store_eight_of(buffers.weights + first, 0, left, true, w);
  if (buffers.rounded != nullptr) store_eight_of(buffers.rounded + first, 0, left, true, w);
  if (!finite) atomicMax(&report->non_finite_weights, 1);
}

double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 != 0) result *= base;
  return result;
}

unsigned blocks_of(std::size_t size) { return static_cast<unsigned>((size + kThreads * 8 - 1) / (kThreads * 8)); }

}  // namespace

void squared_norm(Stream& stream, std::size_t size, const float* gradients, double* partials, StepReport* report) {
  const int blocks = static_cast<int>(std::min<unsigned>(kNormPartials, blocks_of(size)));
  STARPO_LAUNCH(stream, blocks, kThreads, 0, (squares_kernel), size, gradients, partials);
  STARPO_LAUNCH(stream, 1, kThreads, 0, (norm_kernel), blocks, partials, report);
}

void adamw(Stream& stream, std::size_t size, const AdamWBuffers& buffers, const AdamWSettings& settings,
           float gradient_scale, std::int64_t steps, StepReport* report) {
  const AdamWFactors factors{.gradient_scale = gradient_scale,
                             .beta1 = settings.beta1,
                             .rest1 = 1.0f - settings.beta1,
                             .beta2 = settings.beta2,
                             .rest2 = 1.0f - settings.beta2,
                             .learning_rate = settings.learning_rate,
                             .epsilon = settings.epsilon,
                             .decay = settings.learning_rate * settings.weight_decay,
                             .first_correction = static_cast<float>(1 / (1 - power(settings.beta1, steps))),
                             .second_correction = static_cast<float>(1 / (1 - power(settings.beta2, steps)))};
  STARPO_LAUNCH(stream, blocks_of(size), kThreads, 0, (adamw_kernel), size, buffers, factors, report);
}

}  // namespace starpo::cuda
