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
  int prefixes;  // further slots that hold groups' prompts
  int context;   // most tokens of a slot

  int seats() const { return slots + prefixes; }
  // A row that has ended its reply computes on: its last token may lie one beyond.
  int cached() const { return context + 1; }
  // Numbers of one layer's keys, and of its values.
  std::size_t cache_size(const Widths& width) const {
    return static_cast<std::size_t>(seats()) * cached() * width.keys;
  }
};

// The most that is planned for.
GeneratorShape planned_shape(const EngineNeeds&);

inline constexpr int kStepsPerCall = 8;    // tokens a slot may choose before the host looks
inline constexpr int kPrefillRows = 4096;  // prompt and observation tokens computed at a time
inline constexpr int kMostStopIds = 64;
inline constexpr int kRowStates =
    7;  // numbers that a row is described by: those of DecodeRows, its slot and its episode
inline constexpr int kKeySplit = 512;  // keys that one block walks while decoding in fast mode
KeySplits key_splits(int context, float* partials);

// Rows of a decode step for so many busy slots: few sizes, so that few steps are recorded.
int decode_bucket(int slots);

// The KV cache of all slots and what a step needs, in one arena.
template <class T>
struct GeneratorBuffers {
  GeneratorBuffers(Arena&, const ModelConfig&, const GeneratorShape&);

  std::vector<KvCache<T>> caches;             // by layer
  std::int32_t *prefix_slot, *prefix_length;  // [slots + prefixes]

  LayerBuffers<T> layer;                                 // of all layers
  T* delta;                                              // [rows, hidden]
  float* logits;                                         // [decode rows, vocab]
  std::int32_t *row_slots, *row_tokens, *row_positions;  // [prefill rows]

  // What the host tells a burst of steps and is told by it: all [decode rows], one behind the other, so that a single
  // copy brings them.
  std::int32_t* row_states;  // [kRowStates, decode rows]
  int decode_rows;
  DecodeRows rows;
  std::int32_t *slots, *episodes;  // slot -1: an idle row, which computes but stores nothing
  Choices choices;                 // [decode rows]
  DecodeLog log;                   // [decode rows, kStepsPerCall]
  SamplerSettings* sampler;
  std::int32_t* stop_ids;  // [kMostStopIds]
  float* key_partials;     // of attention in pieces
};

// A row of a decode step, as the host sets and reads it.
struct HostRow {
  std::int32_t token = 0, position = 0, remaining = 0;
  RowState state = RowState::exhausted;
  std::int32_t logged = 0, slot = -1, episode = 0;
};

// The host's side of a burst of steps: pinned, so that copies wait for no staging. Like all that is copied on its own,
// it may be touched once the stream has been waited for.
struct HostBuffers {
  explicit HostBuffers(int decode_rows);

  void set_row(int index, const HostRow&);
  HostRow row(int index) const;

  int decode_rows;
  PinnedBuffer<std::int32_t> row_states;  // as on the device
  PinnedBuffer<SamplerSettings> sampler;
  PinnedBuffer<std::int32_t> stop_ids;
  PinnedBuffer<std::int32_t> ids;  // [decode rows, kStepsPerCall], as the other two of the log
  PinnedBuffer<float> logprobs, entropies;
};

extern template struct GeneratorBuffers<Bf16>;
extern template struct GeneratorBuffers<float>;

// Decodes with recorded steps: choosing, noting and feeding back happen on the device, several tokens at a time. T:
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
  void generate(std::span<const ReplyRequest>, const DrawSettings&, std::vector<std::vector<Choice>>& choices) override;

 private:
  // A slot, or a group's prompt: the cache holds `length` tokens, and `pending` follow.
  struct CachedSequence {
    std::uint32_t episode = 0;
    int length = 0;
    std::vector<std::int32_t> pending;
    int prefix = -1;  // seat whose first tokens it borrows
  };
  // A seat after the slots that holds a prompt but for its last token.
  struct Prefix {
    int group = -1;
    std::vector<std::int32_t> prompt;
    int users = 0;
  };

  int find_prefix(int group, std::span<const std::int32_t> prompt);  // seat; -1: all are in use
  void check_room(int seat, std::size_t more) const;
  void check_tokens(std::span<const std::int32_t> tokens) const;
  void upload_prefixes();
  void prefill();
  void prefill_rows(std::span<const std::int32_t> slots, std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> positions);
  void run_layers(int rows, const std::int32_t* tokens, const std::int32_t* positions, const std::int32_t* slots,
                  bool decoding);
  void decode_step(int rows, int stop_count);
  void feed(std::span<const ReplyRequest>, const DrawSettings&);
  void collect(std::span<const ReplyRequest>, int rows, std::vector<std::vector<Choice>>& choices);

  Stream& stream_;
  const DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  GeneratorBuffers<T> buffers_;
  GeneratorShape shape_;
  bool exact_;
  std::vector<CachedSequence> seats_;
  std::vector<Prefix> prefixes_;
  bool prefixes_changed_ = true;
  HostBuffers host_;
  std::map<std::pair<int, int>, Graph> steps_;  // by rows and number of stop ids
};

extern template class CudaGenerator<Bf16>;
extern template class CudaGenerator<float>;

}  // namespace starpo::cuda
