#include <algorithm>

#include "engine/cuda/kernels/attention.cuh"

namespace starpo::cuda {

namespace {

// Number of heads of a key-value head's group per block. Groups above 8 are split.
constexpr int kHeadsOfBlock = 8;

int head_parts(const AttentionShape& shape) { return (shape.group() + kHeadsOfBlock - 1) / kHeadsOfBlock; }

template <class T, int HeadDim>
__device__ KeyRows<T> cached_keys(const KvCache<T>& cache, int slot, int kv_head) {
  const auto offset = [&](int of) {
    return (static_cast<std::ptrdiff_t>(of) * cache.kv_heads + kv_head) * cache.context * HeadDim;
  };
  const int prefix = cache.prefix_length[slot];
  const std::ptrdiff_t own = offset(slot), shared_prefix = prefix > 0 ? offset(cache.prefix_slot[slot]) : own;
  return {cache.keys + own, cache.values + own, cache.keys + shared_prefix, cache.values + shared_prefix, prefix,
          HeadDim};
}

// Grid: (tiles of `tokens` rows, kv_heads * head parts, parts of the keys). Adjacent rows of a slot are computed
// together, then those of the next slot.
template <class Engine>
__global__ void __launch_bounds__(Engine::kThreads, 2)
    cached_attention_kernel(AttentionShape shape, KvCache<typename Engine::Number> cache, CachedRows rows, int tokens,
                            const typename Engine::Number* qkv, typename Engine::Number* attended, KeySplits splits) {
  using T = typename Engine::Number;
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int parts = gridDim.y / shape.kv_heads, kv_head = blockIdx.y / parts, part = blockIdx.y % parts;
  const int head = kv_head * shape.group() + part * kHeadsOfBlock;
  const int group = min(kHeadsOfBlock, shape.group() - part * kHeadsOfBlock);
  const std::ptrdiff_t stride = shape.qkv_width(), attended_stride = shape.heads * Engine::kHeadDim;
  const int tile = blockIdx.x * tokens, end = min(tokens, rows.rows - tile);
  const int lane = lane_index();
  const int slot_of_lane = lane < end ? rows.slot[tile + lane] : -1;
  const int seen_of_lane = lane < end ? rows.position[tile + lane] + 1 : 0;

  for (int begin = 0, count; begin < end; begin += count) {
    const int slot = __shfl_sync(kAllLanes, slot_of_lane, begin);
    const unsigned others = __ballot_sync(kAllLanes, lane >= begin && (lane >= end || slot_of_lane != slot));
    count = (others == 0 ? 32 : __ffs(others) - 1) - begin;
    const std::ptrdiff_t row = tile + begin;

    QueryRows<T> queries;
    queries.queries = qkv + row * stride + head * Engine::kHeadDim;
    queries.query_stride = stride;
    queries.attended = attended + row * attended_stride + head * Engine::kHeadDim;
    queries.attended_stride = attended_stride;
    queries.positions = rows.position + row;
    queries.first_position = 0;
    queries.group = group;
    queries.count = count * group;
    if (slot < 0) {
      if (splits.length == 0)
        for (int i = threadIdx.x; i < queries.count * Engine::kHeadDim; i += Engine::kThreads)
          queries.template output<Engine::kHeadDim>(i / Engine::kHeadDim)[i % Engine::kHeadDim] = from_float<T>(0.0f);
      continue;
    }

    int key_end = lane >= begin && lane < begin + count ? seen_of_lane : 0;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      key_end = max(key_end, __shfl_xor_sync(kAllLanes, key_end, distance));
    const int piece = blockIdx.z, first_key = piece * splits.length;
    if (splits.length > 0) key_end = min(key_end, first_key + splits.length);
    if (first_key >= key_end) continue;

    Engine engine;
    engine.accumulate(shared, queries, cached_keys<T, Engine::kHeadDim>(cache, slot, kv_head), first_key, key_end,
                      shape.scale);
    if (splits.length == 0) {
      engine.write_attended(shared, queries);
    } else {
      const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(rows.rows) * shape.heads,
                           partial = piece * all + row * shape.heads + head;
      engine.write_partials(splits.partials + partial * Engine::kHeadDim,
                            splits.partials + gridDim.z * all * Engine::kHeadDim + 2 * partial, queries.count);
    }
    __syncthreads();  // before shared memory is overwritten
  }
}

// One warp per row and head merges the parts of its keys in order. Parts beyond the row's last key were not written.
template <class T, int HeadDim>
__global__ void merge_key_splits_kernel(AttentionShape shape, CachedRows rows, T* attended, KeySplits splits,
                                        int pieces) {
  const int of = blockIdx.x * (blockDim.x / 32) + warp_index(), all = rows.rows * shape.heads;
  if (of >= all) return;
  const int row = of / shape.heads;
  const int reached = rows.slot[row] < 0 ? 0 : rows.position[row] / splits.length + 1;
  const float* const softmaxes = splits.partials + static_cast<std::ptrdiff_t>(pieces) * all * HeadDim;
  constexpr int kColumns = (HeadDim + 31) / 32;
  float out[kColumns] = {};
  RunningSoftmax merged;
  for (int piece = 0; piece < reached; ++piece) {
    const std::ptrdiff_t partial = static_cast<std::ptrdiff_t>(piece) * all + of;
    const float partial_max = softmaxes[2 * partial], sum = softmaxes[2 * partial + 1];
    const float rescale = merged.update_max(partial_max), share = exp2_approximate(partial_max - merged.running_max);
    merged.sum = fmaf(sum, share, merged.sum * rescale);
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (lane_index() + 32 * i < HeadDim)
        out[i] = fmaf(splits.partials[partial * HeadDim + lane_index() + 32 * i], share, out[i] * rescale);
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    if (lane_index() + 32 * i < HeadDim)
      attended[static_cast<std::ptrdiff_t>(of) * HeadDim + lane_index() + 32 * i] =
          from_float<T>(reached == 0 ? 0.0f : out[i] / merged.sum);
}

int pieces_of(const KeySplits& splits) {
  return splits.length == 0 ? 1 : (splits.longest + splits.length - 1) / splits.length;
}

template <class Engine>
void launch_attention(Stream& stream, const AttentionShape& shape, const KvCache<typename Engine::Number>& cache,
                      const CachedRows& rows, const typename Engine::Number* qkv, typename Engine::Number* attended,
                      const KeySplits& splits) {
  // One lane per token of a tile.
  const int tokens = rows.decoding ? 1 : std::min(32, Engine::kRows / std::min(kHeadsOfBlock, shape.group()));
  const dim3 grid((rows.rows + tokens - 1) / tokens, shape.kv_heads * head_parts(shape), pieces_of(splits));
  STARPO_LAUNCH(stream, grid, Engine::kThreads, Engine::kSharedBytes, (cached_attention_kernel<Engine>), shape, cache,
                rows, tokens, qkv, attended, splits);
}

}  // namespace

std::size_t key_split_partials(const AttentionShape& shape, int rows, const KeySplits& splits) {
  return splits.length == 0 ? 0
                            : static_cast<std::size_t>(pieces_of(splits)) * rows * shape.heads * (shape.head_dim + 2);
}

template <class T>
void cached_attention(Stream& stream, const AttentionShape& shape, const KvCache<T>& cache, const CachedRows& rows,
                      const T* qkv, T* attended, const KeySplits& splits) {
  if (rows.rows == 0) return;
  with_head_dim(shape.head_dim, [&]<int HeadDim>() {
    if (!rows.decoding)
      return launch_attention<typename Engines<T, HeadDim>::Prefill>(stream, shape, cache, rows, qkv, attended, {});
    launch_attention<typename Engines<T, HeadDim>::Decode>(stream, shape, cache, rows, qkv, attended, splits);
    if (splits.length == 0) return;
    constexpr int kWarps = 4;
    STARPO_LAUNCH(stream, (rows.rows * shape.heads + kWarps - 1) / kWarps, 32 * kWarps, 0,
                  (merge_key_splits_kernel<T, HeadDim>), shape, rows, attended, splits, pieces_of(splits));
  });
}

template void cached_attention(Stream&, const AttentionShape&, const KvCache<Bf16>&, const CachedRows&, const Bf16*,
                               Bf16*, const KeySplits&);
template void cached_attention(Stream&, const AttentionShape&, const KvCache<float>&, const CachedRows&, const float*,
                               float*, const KeySplits&);

}  // namespace starpo::cuda
