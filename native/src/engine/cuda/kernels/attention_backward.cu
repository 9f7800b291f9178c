#include "engine/cuda/kernels/attention_gradient.cuh"

namespace starpo::cuda {

namespace {

// A few neighbouring lanes for each row and head.
template <class T, int HeadDim>
__global__ void attention_delta_kernel(int tokens, int heads, const T* attended, const T* attended_gradient,
                                       float* delta) {
  constexpr int kLanes = HeadDim / Vector<T>::size;
  const std::ptrdiff_t of = (static_cast<std::ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes,
                       all = static_cast<std::ptrdiff_t>(tokens) * heads;
  const int column = threadIdx.x % kLanes * Vector<T>::size;
  float sum = 0.0f;
  if (of < all) {
    const Vector<T> output = Vector<T>::load(attended + of * HeadDim + column),
                    gradient = Vector<T>::load(attended_gradient + of * HeadDim + column);
#pragma unroll
    for (int i = 0; i < Vector<T>::size; ++i) sum = fmaf(to_float(output[i]), to_float(gradient[i]), sum);
  }
#pragma unroll
  for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAllLanes, sum, lanes);
  if (of < all && column == 0) delta[of % heads * tokens + of / heads] = sum;
}

// Grid: (heads, sequences, row tiles of the longest sequence), the tiles that see most keys first.
template <class Engine>
__global__ void __launch_bounds__(Engine::kThreads, Engine::kHeadDim <= 64 ? 3 : 2)
    attention_query_gradient_kernel(AttentionGradient<typename Engine::Number, Engine::kHeadDim> of) {
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int start = of.sequences.starts[blockIdx.y], length = of.sequences.starts[blockIdx.y + 1] - start;
  const int tile = (length + Engine::kRows - 1) / Engine::kRows - 1 - static_cast<int>(blockIdx.z),
            first = tile * Engine::kRows;
  if (tile >= 0) Engine::accumulate(shared, of, blockIdx.x, start, first, min(Engine::kRows, length - first));
}

// Grid: (kv_heads, sequences, key tiles of the longest sequence), the keys that most queries see first.
template <class Engine>
__global__ void __launch_bounds__(Engine::kThreads, 2)
    attention_key_gradient_kernel(AttentionGradient<typename Engine::Number, Engine::kHeadDim> of) {
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int start = of.sequences.starts[blockIdx.y], length = of.sequences.starts[blockIdx.y + 1] - start;
  const int first = blockIdx.z * Engine::kRows;
  if (first < length) Engine::accumulate(shared, of, blockIdx.x, start, first, length);
}

template <class T, int HeadDim>
struct GradientEngines {  // float
  using Query = PlainQueryGradient<HeadDim>;
  using Key = PlainKeyGradient<HeadDim>;
};
template <int HeadDim>
struct GradientEngines<Bf16, HeadDim> {
  using Query = TensorQueryGradient<HeadDim>;
  using Key = TensorKeyGradient<HeadDim>;
};

template <class Engine>
dim3 grid_of(int heads, const PackedSequences& sequences) {
  return dim3(heads, sequences.sequences, (sequences.longest + Engine::kRows - 1) / Engine::kRows);
}

}  // namespace

template <class T>
void attention_backward(Stream& stream, const AttentionShape& shape, const PackedSequences& sequences, const T* qkv,
                        const T* attended, const T* attended_gradient, const float* log_sum_exp, float* delta,
                        T* qkv_gradient) {
  if (sequences.longest == 0) return;
  with_head_dim(shape.head_dim, [&]<int HeadDim>() {
    using Query = typename GradientEngines<T, HeadDim>::Query;
    using Key = typename GradientEngines<T, HeadDim>::Key;
    constexpr int kRowsOfBlock = 256 / (HeadDim / Vector<T>::size);
    const std::int64_t rows = static_cast<std::int64_t>(sequences.tokens) * shape.heads;
    STARPO_LAUNCH(stream, static_cast<unsigned>((rows + kRowsOfBlock - 1) / kRowsOfBlock), 256, 0,
                  (attention_delta_kernel<T, HeadDim>), sequences.tokens, shape.heads, attended, attended_gradient,
                  delta);
    const AttentionGradient<T, HeadDim> of{shape, sequences, qkv, attended_gradient, log_sum_exp, delta, qkv_gradient};
    STARPO_LAUNCH(stream, grid_of<Query>(shape.heads, sequences), Query::kThreads, Query::kSharedBytes,
                  (attention_query_gradient_kernel<Query>), of);
    STARPO_LAUNCH(stream, grid_of<Key>(shape.kv_heads, sequences), Key::kThreads, Key::kSharedBytes,
                  (attention_key_gradient_kernel<Key>), of);
  });
}

template void attention_backward(Stream&, const AttentionShape&, const PackedSequences&, const Bf16*, const Bf16*,
                                 const Bf16*, const float*, float*, Bf16*);
template void attention_backward(Stream&, const AttentionShape&, const PackedSequences&, const float*, const float*,
                                 const float*, const float*, float*, float*);

}  // namespace starpo::cuda
