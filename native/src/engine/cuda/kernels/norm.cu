#include "engine/cuda/kernels/norm.h"

#include <algorithm>

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/eight.h"
#include "engine/cuda/portable/warp.h"

namespace starpo::cuda {
namespace {

constexpr int kNormThreads = 128;
constexpr int kMaxBackwardBlocks = 1024;  // each writes a row of partial weight gradients

// One block per row.
template <class T>
__global__ void __launch_bounds__(kNormThreads)
    residual_norm_kernel(int columns, const float* x, const T* delta, float* sum, const float* weight, float epsilon,
                         T* normed, float* reciprocal_rms) {
  STARPO_SHARED(float, scratch[kNormThreads / 32]);
  STARPO_DYNAMIC_SHARED(float, summed);  // [columns] each thread reads only elements that it wrote
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const int groups = columns / 8;
  float squares = 0;
  for (int group = threadIdx.x; group < groups; group += kNormThreads) {
    float values[8];
    load_eight(x + start + group * 8, values);
    if (delta != nullptr) {
      float added[8];
      load_eight(delta + start + group * 8, added);
#pragma unroll
      for (int i = 0; i < 8; ++i) values[i] += added[i];
      store_eight(sum + start + group * 8, values);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) squares = fmaf(values[i], values[i], squares);
    store_eight(summed + group * 8, values);
  }
  const float factor = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(columns) + epsilon);
  if (reciprocal_rms != nullptr && threadIdx.x == 0) reciprocal_rms[blockIdx.x] = factor;
  for (int group = threadIdx.x; group < groups; group += kNormThreads) {
    float values[8], scale[8];
    load_eight(summed + group * 8, values);
    load_eight(weight + group * 8, scale);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = values[i] * factor * scale[i];
    store_eight(normed + start + group * 8, values);
  }
}

// With u = x / rms: dx = (dy w - u mean(dy w u)) / rms and dw = sum over rows of dy u. Block b computes the rows b, b +
// blocks, ... and partials[b], its part of dw.
template <class T>
__global__ void __launch_bounds__(kNormThreads)
    norm_backward_kernel(int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                         const T* normed_gradient, float* x_gradient, T* rounded, float* partials) {
  STARPO_SHARED(float, scratch[kNormThreads / 32]);
  STARPO_DYNAMIC_SHARED(float, weight_sums);  // [columns] each thread reads only elements that it wrote
  const int groups = columns / 8;
  const float zeros[8] = {};
  for (int group = threadIdx.x; group < groups; group += kNormThreads) store_eight(weight_sums + group * 8, zeros);

  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::size_t start = static_cast<std::size_t>(row) * columns;
    const float factor = reciprocal_rms[row];
    float sum = 0;
    for (int group = threadIdx.x; group < groups; group += kNormThreads) {
      float unit[8], slope[8], scale[8], weight_sum[8];
      load_eight(x + start + group * 8, unit);
      load_eight(normed_gradient + start + group * 8, slope);
      load_eight(weight + group * 8, scale);
      load_eight(weight_sums + group * 8, weight_sum);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        unit[i] *= factor;
        sum = fmaf(slope[i] * scale[i], unit[i], sum);
        weight_sum[i] = fmaf(slope[i], unit[i], weight_sum[i]);
      }
      store_eight(weight_sums + group * 8, weight_sum);
    }
    const float mean = block_sum(sum, scratch) / static_cast<float>(columns);
    for (int group = threadIdx.x; group < groups; group += kNormThreads) {
      float unit[8], slope[8], scale[8], gradient[8];
      load_eight(x + start + group * 8, unit);
      load_eight(normed_gradient + start + group * 8, slope);
      load_eight(weight + group * 8, scale);
      load_eight(x_gradient + start + group * 8, gradient);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        gradient[i] = fmaf(slope[i] * scale[i] - unit[i] * factor * mean, factor, gradient[i]);
      store_eight(x_gradient + start + group * 8, gradient);
      if (rounded != nullptr) store_eight(rounded + start + group * 8, gradient);
    }
  }

  const std::size_t partial = static_cast<std::size_t>(blockIdx.x) * columns;
  for (int group = threadIdx.x; group < groups; group += kNormThreads) {
    float weight_sum[8];
    load_eight(weight_sums + group * 8, weight_sum);
    store_eight(partials + partial + group * 8, weight_sum);
  }
}

// One block per row.
template <class T, bool gather>
__global__ void __launch_bounds__(kNormThreads)
    move_rows_kernel(int columns, const T* from, const std::int32_t* index, T* to) {
  const std::size_t packed = blockIdx.x, indexed = index[blockIdx.x];
  const T* const source = from + (gather ? indexed : packed) * columns;
  T* const target = to + (gather ? packed : indexed) * columns;
  for (int i = threadIdx.x * Vector<T>::size; i < columns; i += kNormThreads * Vector<T>::size)
    Vector<T>::load(source + i).store(target + i);
}

int backward_blocks(int rows) { return std::min(rows, kMaxBackwardBlocks); }

}  // namespace

template <class T>
void residual_norm(Stream& stream, int rows, int columns, const float* x, const T* delta, float* sum,
                   const float* weight, float epsilon, T* normed, float* reciprocal_rms) {
  STARPO_LAUNCH(stream, rows, kNormThreads, columns * sizeof(float), (residual_norm_kernel<T>), columns, x, delta, sum,
                weight, epsilon, normed, reciprocal_rms);
}

template <class T>
void norm_backward(Stream& stream, int rows, int columns, const float* x, const float* weight,
                   const float* reciprocal_rms, const T* normed_gradient, float* x_gradient, T* rounded,
                   float* weight_gradient, float* partials) {
  const int blocks = backward_blocks(rows);
  STARPO_LAUNCH(stream, blocks, kNormThreads, columns * sizeof(float), (norm_backward_kernel<T>), rows, columns, x,
                weight, reciprocal_rms, normed_gradient, x_gradient, rounded, partials);
  add_partials(stream, blocks, columns, partials, weight_gradient);
}

std::size_t norm_backward_partials(int rows, int columns) {
  return static_cast<std::size_t>(backward_blocks(rows)) * columns;
}

template <class T>
void gather_rows(Stream& stream, int rows, int columns, const T* from, const std::int32_t* index, T* to) {
  STARPO_LAUNCH(stream, rows, kNormThreads, 0, (move_rows_kernel<T, true>), columns, from, index, to);
}

template <class T>
void scatter_rows(Stream& stream, int rows, int columns, const T* from, const std::int32_t* index, T* to) {
  STARPO_LAUNCH(stream, rows, kNormThreads, 0, (move_rows_kernel<T, false>), columns, from, index, to);
}

template void residual_norm(Stream&, int, int, const float*, const float*, float*, const float*, float, float*, float*);
template void residual_norm(Stream&, int, int, const float*, const Bf16*, float*, const float*, float, Bf16*, float*);
template void norm_backward(Stream&, int, int, const float*, const float*, const float*, const float*, float*, float*,
                            float*, float*);
template void norm_backward(Stream&, int, int, const float*, const float*, const float*, const Bf16*, float*, Bf16*,
                            float*, float*);
template void gather_rows(Stream&, int, int, const float*, const std::int32_t*, float*);
template void gather_rows(Stream&, int, int, const Bf16*, const std::int32_t*, Bf16*);
template void scatter_rows(Stream&, int, int, const float*, const std::int32_t*, float*);
template void scatter_rows(Stream&, int, int, const Bf16*, const std::int32_t*, Bf16*);

}  // namespace starpo::cuda
