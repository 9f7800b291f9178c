#include "engine/cuda/kernels/attention.cuh"
#include "engine/cuda/kernels/attention_gradient_bf16.cuh"
#include "engine/cuda/kernels/attention_gradient_fp32.cuh"

namespace starpo::cuda {
namespace {

// delta[head, token] = sum over columns of attended * attended_gradient. HeadDim / Vector<T>::size adjacent lanes
// compute one element.
template <class T, int HeadDim>
__global__ void attention_delta_kernel(int tokens, int heads, const T* attended, const T* attended_gradient,
                                       float* delta) {
  constexpr int kLanes = HeadDim / Vector<T>::size;
  const std::ptrdiff_t row_head = (static_cast<std::ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes,
                       row_heads = static_cast<std::ptrdiff_t>(tokens) * heads;
  const int column = threadIdx.x % kLanes * Vector<T>::size;
  float sum = 0.0f;
  if (row_head < row_heads) {
    const Vector<T> output = Vector<T>::load(attended + row_head * HeadDim + column),
                    gradient = Vector<T>::load(attended_gradient + row_head * HeadDim + column);
#pragma unroll
    for (int i = 0; i < Vector<T>::size; ++i) sum = fmaf(to_float(output[i]), to_float(gradient[i]), sum);
  }
#pragma unroll
  for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAllLanes, sum, lanes);
  if (row_head < row_heads && column == 0) delta[row_head % heads * tokens + row_head / heads] = sum;
}

// dQ, one block per tile of queries. Grid: (heads, sequences, tiles of the longest sequence). Tiles that attend to the
// most keys come first, so that the last blocks to start are short.
template <class Gradient>
__global__ void __launch_bounds__(Gradient::kThreads, Gradient::kHeadDim <= 64 ? 3 : 2)
    attention_query_gradient_kernel(AttentionGradient<typename Gradient::Number, Gradient::kHeadDim> args) {
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int start = args.sequences.starts[blockIdx.y], length = args.sequences.starts[blockIdx.y + 1] - start;
  const int tile = (length + Gradient::kRows - 1) / Gradient::kRows - 1 - static_cast<int>(blockIdx.z),
            first = tile * Gradient::kRows;
  if (tile >= 0) Gradient::accumulate(shared, args, blockIdx.x, start, first, min(Gradient::kRows, length - first));
}

// dK and dV, one block per tile of keys. Grid: (kv_heads, sequences, tiles of the longest sequence). Keys that the most
// queries attend to come first.
template <class Gradient>
__global__ void __launch_bounds__(Gradient::kThreads, 2)
    attention_key_gradient_kernel(AttentionGradient<typename Gradient::Number, Gradient::kHeadDim> args) {
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int start = args.sequences.starts[blockIdx.y], length = args.sequences.starts[blockIdx.y + 1] - start;
  const int first = blockIdx.z * Gradient::kRows;
  if (first < length) Gradient::accumulate(shared, args, blockIdx.x, start, first, length);
}

template <class T, int HeadDim>
struct GradientFor {  // T = float
  using Query = Fp32QueryGradient<HeadDim>;
  using Key = Fp32KeyGradient<HeadDim>;
};
template <int HeadDim>
struct GradientFor<Bf16, HeadDim> {
  using Query = Bf16QueryGradient<HeadDim>;
  using Key = Bf16KeyGradient<HeadDim>;
};

template <class Gradient>
dim3 grid_of(int heads, const PackedSequences& sequences) {
  return dim3(heads, sequences.sequences, (sequences.longest + Gradient::kRows - 1) / Gradient::kRows);
}

}  // namespace

template <class T>
void attention_backward(Stream& stream, const AttentionShape& shape, const PackedSequences& sequences, const T* qkv,
                        const T* attended, const T* attended_gradient, const float* log_sum_exp, float* delta,
                        T* qkv_gradient) {
  if (sequences.longest == 0) return;
  with_head_dim(shape.head_dim, [&]<int HeadDim>() {
    using Query = typename GradientFor<T, HeadDim>::Query;
    using Key = typename GradientFor<T, HeadDim>::Key;
    constexpr int kRowsPerBlock = 256 / (HeadDim / Vector<T>::size);
    const std::int64_t rows = static_cast<std::int64_t>(sequences.tokens) * shape.heads;
    STARPO_LAUNCH(stream, static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock), 256, 0,
                  (attention_delta_kernel<T, HeadDim>), sequences.tokens, shape.heads, attended, attended_gradient,
                  delta);
    const AttentionGradient<T, HeadDim> args{shape,       sequences, qkv,         attended_gradient,
                                             log_sum_exp, delta,     qkv_gradient};
    STARPO_LAUNCH(stream, grid_of<Query>(shape.heads, sequences), Query::kThreads, Query::kSharedBytes,
                  (attention_query_gradient_kernel<Query>), args);
    STARPO_LAUNCH(stream, grid_of<Key>(shape.kv_heads, sequences), Key::kThreads, Key::kSharedBytes,
                  (attention_key_gradient_kernel<Key>), args);
  });
}

template void attention_backward(Stream&, const AttentionShape&, const PackedSequences&, const Bf16*, const Bf16*,
                                 const Bf16*, const float*, float*, Bf16*);
template void attention_backward(Stream&, const AttentionShape&, const PackedSequences&, const float*, const float*,
                                 const float*, const float*, float*, float*);

}  // namespace starpo::cuda
