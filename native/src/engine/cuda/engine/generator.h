#pragma once

#include <map>
#include <vector>

#include "engine/cuda/engine/arena.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/decode_state.h"
#include "engine/cuda/kernels/kv_cache.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/engine.h"
#include "engine/generator.h"

namespace starpo::cuda {

struct GeneratorShape {
  int slots;
  int prefixes;  // additional cache slots for shared prompts
  int context;   // maximum tokens per slot

  int cache_slots() const { return slots + prefixes; }
  // Tokens per cache slot. One more than the context, because rows with a finished response still compute.
  int cached_tokens() const { return context + 1; }
  // Elements of the keys of a layer, and of its values.
  std::size_t cache_size(const Widths& width) const {
    return static_cast<std::size_t>(cache_slots()) * cached_tokens() * width.keys;
  }
};

// Returns the shape for which memory is planned.
GeneratorShape planned_shape(const EngineNeeds&);

inline constexpr int kStepsPerCall = 8;    // tokens per slot between synchronizations with the host
inline constexpr int kPrefillRows = 4096;  // prompt and observation tokens per prefill batch
inline constexpr int kMaxStopIds = 64;
inline constexpr int kRowStates = 7;   // values per row: those of DecodeRows, slot and episode
inline constexpr int kKeySplit = 512;  // keys per block when decoding in fast mode
KeySplits key_splits(int context, float* partials);

// Returns the rows of a decode step for this many active slots. There are few sizes, so that few graphs are captured.
int decode_bucket(int slots);

// The KV cache of all slots and the buffers of a step, in one arena.
template <class T>
struct GeneratorBuffers {
  GeneratorBuffers(Arena&, const ModelConfig&, const GeneratorShape&);

  std::vector<KvCache<T>> caches;             // by layer
  std::int32_t *prefix_slot, *prefix_length;  // [slots + prefixes]

  LayerBuffers<T> layer;                                 // shared by all layers
  T* delta;                                              // [rows, hidden]
  float* logits;                                         // [decode rows, vocab]
  std::int32_t *row_slots, *row_tokens, *row_positions;  // [prefill rows]

  // One copy per call exchanges these consecutive arrays [decode rows] with the host.
  std::int32_t* row_states;  // [kRowStates, decode rows]
  int decode_rows;
  DecodeRows rows;
  std::int32_t *slots, *episodes;  // slot -1: an unused row, which computes but stores nothing
  Choices choices;                 // [decode rows]
  DecodeLog log;                   // [decode rows, kStepsPerCall]
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

// Decodes several tokens per call with CUDA graphs. Sampling, logging and feeding tokens back run on the device. T:
// Bf16 or float.
template <class T>
class CudaGenerator final : public Generator {
 public:
  CudaGenerator(Stream&, const DeviceWeights<T>&, const Products<T>&, const RotaryTables&, const GeneratorBuffers<T>&,
                const GeneratorShape&, bool exact);

  int slots() const override { return shape_.slots; }
  int context() const override { return shape_.context; }
  void reset() override;
  void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) override;
  void append(int slot, std::span<const std::int32_t> tokens) override;
  void end(int slot) override;
  void generate(std::span<const ResponseRequest>, const DrawSettings&,
                std::vector<std::vector<Choice>>& choices) override;

 private:
  // A cache slot of an episode or of a shared prompt: `length` tokens are cached, `pending` tokens follow.
  struct CachedSequence {
    std::uint32_t episode = 0;
    int length = 0;
    std::vector<std::int32_t> pending;
    int prefix = -1;  // cache slot of the shared prompt; -1: none
  };
  // A shared prompt, cached without its last token in one of the additional slots.
  struct Prefix {
    int group = -1;
    std::vector<std::int32_t> prompt;
    int users = 0;
  };

  // Returns the cache slot of a shared prompt, or -1 if all are in use.
  int find_prefix(int group, std::span<const std::int32_t> prompt);
  void check_context(int cache_slot, std::size_t more) const;
  void check_tokens(std::span<const std::int32_t> tokens) const;
  void upload_prefixes();
  void prefill();
  void prefill_rows(std::span<const std::int32_t> slots, std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> positions);
  void run_layers(int rows, const std::int32_t* tokens, const std::int32_t* positions, const std::int32_t* slots,
                  bool decoding);
  void decode_step(int rows, int stop_count);
  void upload_rows(std::span<const ResponseRequest>, const DrawSettings&);
  void download_choices(std::span<const ResponseRequest>, int rows, std::vector<std::vector<Choice>>& choices);

  Stream& stream_;
  const DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  GeneratorBuffers<T> buffers_;
  GeneratorShape shape_;
  bool exact_;
  std::vector<CachedSequence> sequences_;
  std::vector<Prefix> prefixes_;
  bool prefixes_changed_ = true;
  HostBuffers host_;
  std::map<std::pair<int, int>, Graph> steps_;  // by rows and number of stop ids
};

extern template class CudaGenerator<Bf16>;
extern template class CudaGenerator<float>;

}  // namespace starpo::cuda
