#include <algorithm>

#include "engine/cuda/kernels/attention.cuh"

namespace starpo::cuda {
namespace {

// attended = softmax(scale * Q K^T) V with log_sum_exp, one block per tile of queries. Grid: (heads, sequences, tiles
// of the longest sequence). Tiles that attend to the most keys come first, so that the last blocks to start are short.
template <class Attention>
__global__ void __launch_bounds__(Attention::kThreads, 2)
    attention_forward_kernel(AttentionShape shape, PackedSequences sequences, const typename Attention::Number* qkv,
                             typename Attention::Number* attended, float* log_sum_exp) {
  using T = typename Attention::Number;
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int head = blockIdx.x, start = sequences.starts[blockIdx.y], length = sequences.starts[blockIdx.y + 1] - start;
  const int tile = (length + Attention::kRows - 1) / Attention::kRows - 1 - static_cast<int>(blockIdx.z);
  if (tile < 0) return;
  const int first = tile * Attention::kRows, count = min(Attention::kRows, length - first);
  const std::ptrdiff_t stride = shape.qkv_width(), attended_stride = shape.heads * Attention::kHeadDim;
  const T* const sequence = qkv + start * stride;

  QueryRows<T> queries;
  queries.queries = sequence + first * stride + head * Attention::kHeadDim;
  queries.query_stride = stride;
  queries.attended = attended + (start + first) * attended_stride + head * Attention::kHeadDim;
  queries.attended_stride = attended_stride;
  queries.positions = nullptr;
  queries.first_position = first;
  queries.group = 1;
  queries.count = count;

  KeyRows<T> keys;
  keys.prefix_keys = keys.keys = sequence + (shape.heads + head / shape.group()) * Attention::kHeadDim;
  keys.prefix_values = keys.values = keys.keys + shape.kv_heads * Attention::kHeadDim;
  keys.prefix = 0;
  keys.stride = stride;

  Attention attention;
  attention.accumulate(shared, queries, keys, 0, first + count, shape.scale);
  attention.write_log_sum_exp(log_sum_exp + static_cast<std::ptrdiff_t>(head) * sequences.tokens + start + first,
                              count);
  attention.write_attended(shared, queries);
}

}  // namespace

bool attention_supports(int head_dim) { return head_dim == 16 || head_dim == 32 || head_dim == 64 || head_dim == 128; }

PackedSequences packed_sequences(std::span<const std::int32_t> starts_on_host, const std::int32_t* starts) {
  PackedSequences packed{starts_on_host.back(), static_cast<int>(starts_on_host.size()) - 1, 0, starts};
  for (int i = 0; i < packed.sequences; ++i)
    packed.longest = std::max(packed.longest, starts_on_host[i + 1] - starts_on_host[i]);
  return packed;
}

template <class T>
void attention_forward(Stream& stream, const AttentionShape& shape, const PackedSequences& sequences, const T* qkv,
                       T* attended, float* log_sum_exp) {
  if (sequences.longest == 0) return;
  with_head_dim(shape.head_dim, [&]<int HeadDim>() {
    using Attention = typename AttentionFor<T, HeadDim>::Forward;
    const dim3 grid(shape.heads, sequences.sequences, (sequences.longest + Attention::kRows - 1) / Attention::kRows);
    STARPO_LAUNCH(stream, grid, Attention::kThreads, Attention::kSharedBytes, (attention_forward_kernel<Attention>),
                  shape, sequences, qkv, attended, log_sum_exp);
  });
}

template void attention_forward(Stream&, const AttentionShape&, const PackedSequences&, const Bf16*, Bf16*, float*);
template void attention_forward(Stream&, const AttentionShape&, const PackedSequences&, const float*, float*, float*);

}  // namespace starpo::cuda
