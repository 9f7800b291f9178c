#include <algorithm>

#include "engine/cuda/kernels/attention.cuh"
#include "engine/cuda/kernels/rope.cuh"

namespace starpo::cuda {
namespace {

// Maximum query heads per block. Larger groups of a key-value head are split.
constexpr int kHeadsPerBlock = 8;

int head_parts(const AttentionShape& shape) { return (shape.group() + kHeadsPerBlock - 1) / kHeadsPerBlock; }

template <class T, int HeadDim>
__device__ KeyRows<T> cached_keys(const KvCache<T>& cache, int slot, int kv_head) {
  const auto offset = [&](int cache_slot) {
    return (static_cast<std::ptrdiff_t>(cache_slot) * cache.kv_heads + kv_head) * cache.context * HeadDim;
  };
  const int prefix = cache.prefix_length[slot];
  const std::ptrdiff_t own = offset(slot), shared_prefix = prefix > 0 ? offset(cache.prefix_slot[slot]) : own;
  return {cache.keys + own, cache.values + own, cache.keys + shared_prefix, cache.values + shared_prefix, prefix,
          HeadDim};
}

// Adds the bias to a token's queries, key and value, and rotates queries and key. The queries go into shared memory,
// key and value into the cache. All blocks of a token's key-value head store the same bits, because a block can't wait
// for another one. head: the first of `group` query heads. qkv: the token's row.
template <class Attention>
__device__ __forceinline__ void store_token(void* shared, const AttentionShape& shape, const KvCache<Bf16>& cache,
                                            const NewTokens& added, const Bf16* qkv, int head, int group, int kv_head,
                                            int slot, int position) {
  constexpr int kHeadDim = Attention::kHeadDim, kHalf = kHeadDim / 2, kParts = kHalf / 8;
  const std::ptrdiff_t angle = static_cast<std::ptrdiff_t>(position) * kHalf;
  const std::ptrdiff_t cached =
      ((static_cast<std::ptrdiff_t>(slot) * cache.kv_heads + kv_head) * cache.context + position) * kHeadDim;
  for (int item = threadIdx.x; item < (group + 2) * kParts; item += Attention::kThreads) {
    const int i = item / kParts, offset = item % kParts * 8;
    const bool query = i < group, key = i == group;
    const int column = (query ? head + i : shape.heads + kv_head + (key ? 0 : shape.kv_heads)) * kHeadDim + offset;
    float low[8], high[8];
    load_rotated(qkv + column, kHalf, added.bias == nullptr ? nullptr : added.bias + column,
                 query || key ? added.rotary.cosines + angle + offset : nullptr, added.rotary.sines + angle + offset,
                 1.0f, low, high);
    if (query) {
      for (int warp = 0; warp < Attention::kKeyWarps; ++warp) {
        Bf16* const queries = Attention::queries_of(shared, warp);
        store_eight(queries + Attention::Rows::offset(i, offset / 8), low);
        store_eight(queries + Attention::Rows::offset(i, (kHalf + offset) / 8), high);
      }
    } else {
      Bf16* const stored = (key ? cache.keys : cache.values) + cached + offset;
      store_eight(stored, low);
      store_eight(stored + kHalf, high);
    }
  }
}

// Grid: (tiles of `tokens` rows, kv_heads * head parts, parts of the keys). A block computes adjacent rows of a slot
// together, then those of the next slot. `rotates`: it first rotates and stores the new token, the only one of its
// tile.
template <class Attention, bool rotates>
__global__ void __launch_bounds__(Attention::kThreads, 2)
    cached_attention_kernel(AttentionShape shape, KvCache<typename Attention::Number> cache, CachedRows rows,
                            int tokens, NewTokens added, const typename Attention::Number* qkv,
                            typename Attention::Number* attended, KeySplits splits) {
  using T = typename Attention::Number;
  STARPO_DYNAMIC_SHARED(uint4, shared);
  const int parts = gridDim.y / shape.kv_heads, kv_head = blockIdx.y / parts, part = blockIdx.y % parts;
  const int head = kv_head * shape.group() + part * kHeadsPerBlock;
  const int group = min(kHeadsPerBlock, shape.group() - part * kHeadsPerBlock);
  const std::ptrdiff_t stride = shape.qkv_width(), attended_stride = shape.heads * Attention::kHeadDim;
  const int tile = blockIdx.x * tokens, end = min(tokens, rows.rows - tile);
  const int lane = lane_index();
  const int slot_of_lane = lane < end ? rows.slot[tile + lane] : -1;
  const int keys_of_lane = lane < end ? rows.position[tile + lane] + 1 : 0;

  for (int begin = 0, count; begin < end; begin += count) {
    const int slot = __shfl_sync(kAllLanes, slot_of_lane, begin);
    const unsigned others = __ballot_sync(kAllLanes, lane >= begin && (lane >= end || slot_of_lane != slot));
    count = (others == 0 ? 32 : __ffs(others) - 1) - begin;
    const std::ptrdiff_t row = tile + begin;

    QueryRows<T> queries;
    queries.queries = qkv + row * stride + head * Attention::kHeadDim;
    queries.query_stride = stride;
    queries.attended = attended + row * attended_stride + head * Attention::kHeadDim;
    queries.attended_stride = attended_stride;
    queries.positions = rows.position + row;
    queries.first_position = 0;
    queries.group = group;
    queries.count = count * group;
    if (slot < 0) {
      if (splits.length == 0)
        for (int i = threadIdx.x; i < queries.count * Attention::kHeadDim; i += Attention::kThreads)
          queries.template output<Attention::kHeadDim>(i / Attention::kHeadDim)[i % Attention::kHeadDim] =
              from_float<T>(0.0f);
      continue;
    }

    int key_end = lane >= begin && lane < begin + count ? keys_of_lane : 0;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      key_end = max(key_end, __shfl_xor_sync(kAllLanes, key_end, distance));
    const int key_part = blockIdx.z, first_key = key_part * splits.length;
    if (splits.length > 0) key_end = min(key_end, first_key + splits.length);
    if (first_key >= key_end) continue;

    Attention attention;
    const KeyRows<T> keys = cached_keys<T, Attention::kHeadDim>(cache, slot, kv_head);
    if constexpr (rotates) {
      const auto store = [&] {
        store_token<Attention>(shared, shape, cache, added, qkv + row * stride, head, group, kv_head, slot,
                               rows.position[row]);
      };
      attention.accumulate_after(store, shared, queries, keys, first_key, key_end, shape.scale);
    } else {
      attention.accumulate(shared, queries, keys, first_key, key_end, shape.scale);
    }
    if (splits.length == 0) {
      attention.write_attended(shared, queries);
    } else {
      const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(rows.rows) * shape.heads,
                           partial = key_part * all + row * shape.heads + head;
      attention.write_partials(splits.partials + partial * Attention::kHeadDim,
                               splits.partials + gridDim.z * all * Attention::kHeadDim + 2 * partial, queries.count);
    }
    __syncthreads();  // before shared memory is overwritten
  }
}

// Merges the parts of a row's keys in order: attended = sum of out_p 2^(max_p - max) / sum of sum_p 2^(max_p - max).
// A single part is rounded as without a split. One warp per row and head. Parts beyond the row's last key were not
// written.
template <class T, int HeadDim>
__global__ void merge_key_splits_kernel(AttentionShape shape, CachedRows rows, T* attended, KeySplits splits,
                                        int key_parts) {
  const int row_head = blockIdx.x * (blockDim.x / 32) + warp_index(), row_heads = rows.rows * shape.heads;
  if (row_head >= row_heads) return;
  const int row = row_head / shape.heads;
  const int written = rows.slot[row] < 0 ? 0 : rows.position[row] / splits.length + 1;
  const float* const softmaxes = splits.partials + static_cast<std::ptrdiff_t>(key_parts) * row_heads * HeadDim;
  constexpr int kColumns = (HeadDim + 31) / 32;
  float out[kColumns] = {};
  RunningSoftmax merged;
  for (int key_part = 0; key_part < written; ++key_part) {
    const std::ptrdiff_t partial = static_cast<std::ptrdiff_t>(key_part) * row_heads + row_head;
    const float partial_max = softmaxes[2 * partial], sum = softmaxes[2 * partial + 1];
    const float rescale = merged.update_max(partial_max), share = exp2_approximate(partial_max - merged.running_max);
    merged.sum = fmaf(sum, share, merged.sum * rescale);
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (lane_index() + 32 * i < HeadDim)
        out[i] = fmaf(splits.partials[partial * HeadDim + lane_index() + 32 * i], share, out[i] * rescale);
  }
  const float inverse = merged.inverse_sum();
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    if (lane_index() + 32 * i < HeadDim)
      attended[static_cast<std::ptrdiff_t>(row_head) * HeadDim + lane_index() + 32 * i] =
          from_float<T>(written == 0 ? 0.0f : out[i] * inverse);
}

int count_key_parts(const KeySplits& splits) {
  return splits.length == 0 ? 1 : (splits.longest + splits.length - 1) / splits.length;
}

template <class Attention, bool rotates>
void launch_attention(Stream& stream, const AttentionShape& shape, const KvCache<typename Attention::Number>& cache,
                      const CachedRows& rows, const NewTokens& added, const typename Attention::Number* qkv,
                      typename Attention::Number* attended, const KeySplits& splits) {
  // One lane per token of a tile.
  const int tokens =
      rows.use != CachedUse::prefill ? 1 : std::min(32, Attention::kRows / std::min(kHeadsPerBlock, shape.group()));
  const dim3 grid((rows.rows + tokens - 1) / tokens, shape.kv_heads * head_parts(shape), count_key_parts(splits));
  STARPO_LAUNCH(stream, grid, Attention::kThreads, Attention::kSharedBytes,
                (cached_attention_kernel<Attention, rotates>), shape, cache, rows, tokens, added, qkv, attended,
                splits);
}

}  // namespace

std::size_t key_split_partials(const AttentionShape& shape, int rows, const KeySplits& splits) {
  return splits.length == 0
             ? 0
             : static_cast<std::size_t>(count_key_parts(splits)) * rows * shape.heads * (shape.head_dim + 2);
}

template <class T>
void cached_attention(Stream& stream, const AttentionShape& shape, const KvCache<T>& cache, const CachedRows& rows,
                      const NewTokens& added, T* qkv, T* attended, const KeySplits& splits) {
  if (rows.rows == 0) return;
  with_head_dim(shape.head_dim, [&]<int HeadDim>() {
    using Kernels = AttentionFor<T, HeadDim>;
    constexpr bool rotates = Kernels::kDecodeRotates;
    if (rows.use == CachedUse::prefill || !rotates)
      bias_rope_append(stream, rows.rows, {shape.heads, shape.kv_heads, HeadDim}, qkv, added.bias, rows.position,
                       added.rotary, cache, rows.slot);
    const auto launch = [&]<class Attention, bool stores>(const KeySplits& parts) {
      launch_attention<Attention, stores>(stream, shape, cache, rows, added, qkv, attended, parts);
    };
    switch (rows.use) {
      case CachedUse::prefill: return launch.template operator()<typename Kernels::Prefill, false>({});
      case CachedUse::decode: launch.template operator()<typename Kernels::Decode, rotates>(splits); break;
      case CachedUse::fast_decode: launch.template operator()<typename Kernels::FastDecode, rotates>(splits); break;
    }
    if (splits.length == 0) return;
    constexpr int kWarps = 4;
    STARPO_LAUNCH(stream, (rows.rows * shape.heads + kWarps - 1) / kWarps, 32 * kWarps, 0,
                  (merge_key_splits_kernel<T, HeadDim>), shape, rows, attended, splits, count_key_parts(splits));
  });
}

template void cached_attention(Stream&, const AttentionShape&, const KvCache<Bf16>&, const CachedRows&,
                               const NewTokens&, Bf16*, Bf16*, const KeySplits&);
template void cached_attention(Stream&, const AttentionShape&, const KvCache<float>&, const CachedRows&,
                               const NewTokens&, float*, float*, const KeySplits&);

}  // namespace starpo::cuda
