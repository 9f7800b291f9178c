#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/host_device.h"
#include "engine/cuda/kernels/kv_cache.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/stream.h"

// Causal attention with grouped queries: out = softmax(scale * Q K^T) V. Query head h reads key-value head h / (heads /
// kv_heads). Scores are not stored: every row accumulates its keys in blocks of 64 from position 0 with an online
// softmax (FlashAttention-2, arXiv 2307.08691). T: Bf16 (tensor cores) or float. Pointers are device memory, aligned to
// 16 bytes. Results are deterministic, because no sum is atomic.
namespace starpo::cuda {

constexpr int kKeyBlock = 64;

// A row of qkv is [queries: heads * head_dim | keys: kv_heads * head_dim | values: kv_heads * head_dim]. Queries and
// keys are rotated.
struct AttentionShape {
  int heads;
  int kv_heads;  // divides heads
  int head_dim;  // 16, 32, 64 or 128
  float scale;   // factor of the scores, 1 / sqrt(head_dim); must be positive

  STARPO_HOST_DEVICE int group() const { return heads / kv_heads; }
  STARPO_HOST_DEVICE int qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

bool attention_supports(int head_dim);

// Packed sequences. Sequence i has the tokens [starts[i], starts[i + 1]) and may be empty. starts is device memory.
struct PackedSequences {
  int tokens;
  int sequences;
  int longest;                 // tokens
  const std::int32_t* starts;  // [sequences + 1]
};
PackedSequences packed_sequences(std::span<const std::int32_t> starts_on_host, const std::int32_t* starts);

// attended: [tokens, heads * head_dim]. log_sum_exp: [heads, tokens], of the scaled scores, for the backward pass.
template <class T>
void attention_forward(Stream&, const AttentionShape&, const PackedSequences&, const T* qkv, T* attended,
                       float* log_sum_exp);

// Writes all of qkv_gradient [tokens, qkv_width]. attended and log_sum_exp are the results of the forward pass. delta:
// scratch [heads, tokens].
template <class T>
void attention_backward(Stream&, const AttentionShape&, const PackedSequences&, const T* qkv, const T* attended,
                        const T* attended_gradient, const float* log_sum_exp, float* delta, T* qkv_gradient);

enum class CachedUse {
  prefill,      // many adjacent rows per slot
  decode,       // one row per slot; the same bits as prefill
  fast_decode,  // the same, but warps divide the keys of a row, which rounds differently
};

// Returns the warps that divide the keys of a row in fast_decode. With 128 columns, the blocks of keys of two warps
// would not fit into the 99 KiB of shared memory that a block has on GPUs of compute capability 8.6. Fewer than 64
// columns occur only in tiny models.
constexpr int key_warps(int head_dim) { return head_dim == 64 ? 2 : 1; }

// Tokens whose keys and values are cached. Row i is the token at position[i] of slot[i] and attends to positions 0 to
// position[i] of the slot. Rows with a negative slot receive zeros.
struct CachedRows {
  int rows;
  const std::int32_t* slot;
  const std::int32_t* position;
  CachedUse use;
};

// Split-KV decoding for few slots: blocks compute parts of `length` keys in parallel, and a second kernel merges the
// parts in order. For rows with more than `length` keys, bits differ from attention_forward, but still depend only on
// the row.
struct KeySplits {
  int length = 0;             // a multiple of 64, or 0: no split
  int longest = 0;            // maximum keys of a row
  float* partials = nullptr;  // scratch for key_split_partials() floats
};
std::size_t key_split_partials(const AttentionShape&, int rows, const KeySplits&);

// cached_attention adds the bias [qkv_width], or nothing if it is null, to the projections of new tokens and rotates
// them.
struct NewTokens {
  const float* bias;
  RotaryTables rotary;
};

// Does the same as bias_rope_append (rope.h), then attends. qkv: [rows, qkv_width], not rotated; its content is
// undefined afterwards. attended: [rows, heads * head_dim]. Except for fast_decode and with splits, a row is
// bit-identical to bias_rope and attention_forward for the same token, for any order and batching of rows, and with or
// without a shared prefix.
template <class T>
void cached_attention(Stream&, const AttentionShape&, const KvCache<T>&, const CachedRows&, const NewTokens&, T* qkv,
                      T* attended, const KeySplits& = {});

}  // namespace starpo::cuda
