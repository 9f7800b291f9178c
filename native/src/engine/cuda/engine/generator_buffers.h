#pragma once

#include <vector>

#include "engine/cuda/engine/arena.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/decode_state.h"
#include "engine/cuda/kernels/kv_cache.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/engine.h"

namespace starpo::cuda {

struct GeneratorShape {
  int slots;
  int prefixes;  // additional cache slots for shared prompts
  int context;   // maximum tokens per slot

  int cache_slots() const { return slots + prefixes; }
  // Elements of the keys of a layer, and of its values.
  std::size_t cache_size(const Widths& width) const {
    return static_cast<std::size_t>(cache_slots()) * context * width.keys;
  }
};

// Returns the shape for which memory is planned.
GeneratorShape planned_shape(const EngineNeeds&);

inline constexpr int kStepsPerCall = 8;    // tokens per slot between synchronizations with the host
inline constexpr int kPrefillRows = 4096;  // prompt and observation tokens per prefill batch
inline constexpr int kMaxStopIds = 64;
inline constexpr int kRowStates = 7;   // values per row: those of DecodeRows and the episode
inline constexpr int kKeySplit = 512;  // keys per warp when decoding few rows in fast mode
// Rows and key-value heads whose blocks keep most of a GPU busy. From there on, a split is slower (H100, 700 keys, 2
// heads: 64 rows take 14.0 us instead of 13.0, 128 rows 22.3 instead of 20.0).
inline constexpr int kBlocksWithoutSplit = 100;
// Rows and key-value heads up to which warps divide the keys of a row (H200, 700 keys, 2 heads: 64 rows take 11.0
// us instead of 13.9, 128 rows 16.2 instead of 16.8, 192 rows 24.7 instead of 22.1).
inline constexpr int kBlocksWithDividedKeys = 256;
// Returns the keys per block of a split.
inline int split_length(int head_dim) { return kKeySplit * key_warps(head_dim); }
// Returns the parts into which a split divides these keys.
inline int key_parts(int longest, int head_dim) {
  return (longest + split_length(head_dim) - 1) / split_length(head_dim);
}
// Returns the split of rows with at most `longest` keys: none if one block computes them.
KeySplits key_splits(int longest, int head_dim, float* partials);

// Returns the rows of a decode step for this many active slots. There are few sizes, so that few graphs are captured.
int decode_bucket(int slots);
// Returns the rows of a prefill batch for this many tokens. There are few sizes, so that few graphs are captured and
// cuBLASLt searches few algorithms.
int prefill_bucket(int tokens);

// The KV cache of all slots and the buffers of a step, in one arena.
template <class T>
struct GeneratorBuffers {
  GeneratorBuffers(Arena&, const ModelConfig&, const GeneratorShape&);

  std::vector<KvCache<T>> caches;             // by layer
  std::int32_t *prefix_slot, *prefix_length;  // [slots + prefixes]

  LayerBuffers<T> layer;                                 // shared by all layers
  T* delta;                                              // [rows, hidden]
  float* logits;                                         // [decode rows, row_stride(vocab)]; shares memory with gate_up
  std::int32_t *row_slots, *row_tokens, *row_positions;  // [prefill rows]

  // One copy per call exchanges these consecutive arrays [decode rows] with the host.
  std::int32_t* row_states;  // [kRowStates, decode rows]
  int decode_rows;
  DecodeRows rows;
  std::int32_t* episodes;
  Choices choices;  // [decode rows]
  DecodeLog log;    // [decode rows, kStepsPerCall]
  SamplerSettings* sampler;
  std::int32_t* stop_ids;  // [kMaxStopIds]
  float* key_partials;     // KeySplits::partials
};

// The state of a decode row on the host.
struct HostRow {
  std::int32_t token = 0, position = 0, remaining = 0;
  RowState state = RowState::exhausted;
  std::int32_t logged = 0, slot = -1, episode = 0;
};

// Pinned host buffers of a call. Synchronize the stream before accessing them.
struct HostBuffers {
  explicit HostBuffers(int decode_rows);

  void set_row(int index, const HostRow&);
  HostRow row(int index) const;

  int decode_rows;
  PinnedBuffer<std::int32_t> row_states;  // same layout as on the device
  PinnedBuffer<SamplerSettings> sampler;
  PinnedBuffer<std::int32_t> stop_ids;
  PinnedBuffer<std::int32_t> ids;  // [decode rows, kStepsPerCall], like logprobs and entropies
  PinnedBuffer<float> logprobs, entropies;
};

extern template struct GeneratorBuffers<Bf16>;
extern template struct GeneratorBuffers<float>;

}  // namespace starpo::cuda
