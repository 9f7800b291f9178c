#include "engine/cuda/kernels/value_head.h"

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/eight.h"
#include "engine/cuda/portable/warp.h"

namespace starpo::cuda {
namespace {

constexpr int kValueHeadThreads = 128;
constexpr int kBiasThreads = 256;

// One block per row.
template <class T>
__global__ void __launch_bounds__(kValueHeadThreads)
    value_head_kernel(int columns, const T* features, const float* weight, const float* bias, float* values) {
  STARPO_SHARED(float, scratch[kValueHeadThreads / 32]);
  const T* const row = features + static_cast<std::size_t>(blockIdx.x) * columns;
  float sum = 0;
  for (int group = threadIdx.x; group < columns / 8; group += kValueHeadThreads) {
    float x[8], w[8];
    load_eight(row + group * 8, x);
    load_eight(weight + group * 8, w);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum = fmaf(x[i], w[i], sum);
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) values[blockIdx.x] = sum + bias[0];
}

// One block per row.
template <class T>
__global__ void __launch_bounds__(kValueHeadThreads)
    features_gradient_kernel(int columns, const float* weight, const float* value_gradients, T* features_gradient) {
  T* const row = features_gradient + static_cast<std::size_t>(blockIdx.x) * columns;
  const float factor = value_gradients[blockIdx.x];
  for (int group = threadIdx.x; group < columns / 8; group += kValueHeadThreads) {
    float w[8];
    load_eight(weight + group * 8, w);
#pragma unroll
    for (int i = 0; i < 8; ++i) w[i] *= factor;
    store_eight(row + group * 8, w);
  }
}

// A single block.
__global__ void __launch_bounds__(kBiasThreads)
    bias_gradient_kernel(int rows, const float* value_gradients, float* bias_gradient) {
  STARPO_SHARED(float, scratch[kBiasThreads / 32]);
  float sum = 0;
  for (int row = threadIdx.x; row < rows; row += kBiasThreads) sum += value_gradients[row];
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) bias_gradient[0] += sum;
}

}  // namespace

template <class T>
void value_head(Stream& stream, int rows, int columns, const T* features, const float* weight, const float* bias,
                float* values) {
  STARPO_LAUNCH(stream, rows, kValueHeadThreads, 0, (value_head_kernel<T>), columns, features, weight, bias, values);
}

template <class T>
void value_head_backward(Stream& stream, int rows, int columns, const T* features, const float* weight,
                         const float* value_gradients, T* features_gradient, float* weight_gradient,
                         float* bias_gradient, float* partials) {
  if (features_gradient != nullptr)
    STARPO_LAUNCH(stream, rows, kValueHeadThreads, 0, (features_gradient_kernel<T>), columns, weight, value_gradients,
                  features_gradient);
  weighted_column_sums(stream, rows, columns, value_gradients, features, weight_gradient, partials);
  STARPO_LAUNCH(stream, 1, kBiasThreads, 0, (bias_gradient_kernel), rows, value_gradients, bias_gradient);
}

template void value_head(Stream&, int, int, const float*, const float*, const float*, float*);
template void value_head(Stream&, int, int, const Bf16*, const float*, const float*, float*);
template void value_head_backward(Stream&, int, int, const float*, const float*, const float*, float*, float*, float*,
                                  float*);
template void value_head_backward(Stream&, int, int, const Bf16*, const float*, const float*, Bf16*, float*, float*,
                                  float*);

}  // namespace starpo::cuda
