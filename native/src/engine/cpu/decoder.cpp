#include "engine/cpu/decoder.h"

#include <algorithm>
#include <stdexcept>

#include "engine/cpu/block_forward.h"
#include "engine/cpu/decode_attention.h"
#include "engine/cpu/decoder_slots.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {

struct Decoder::State {
  State(const Model& m, int count, int context_length)
      : model(m), context(context_length), slots(m.layout().config(), count, context_length, m.precision()) {
    rotary.extend_to(m.layout().config(), context_length);
  }

  void check(std::span<const SlotTokens> entries, std::span<const float> logits) const;
  void run(std::span<const SlotTokens> entries, int rows, float* logits);

  const Model& model;
  int context;
  DecoderSlots slots;
  RotaryTable rotary;
};

Decoder::Decoder(const Model& model, int slots, int context) {
  if (slots < 1 || context < 1) throw std::invalid_argument("a decoder needs a slot and room for a token");
  state_ = std::make_unique<State>(model, slots, context);
}
Decoder::~Decoder() = default;

int Decoder::slots() const { return state_->slots.count(); }
int Decoder::context() const { return state_->context; }
int Decoder::length(int slot) const { return state_->slots.length(slot); }
void Decoder::clear(int slot) { state_->slots.clear(slot); }
void Decoder::copy(int from, int to, int length) { state_->slots.copy(from, to, length); }

void Decoder::extend(std::span<const SlotTokens> entries, std::span<float> logits) {
  state_->check(entries, logits);
  // Each task takes some slots through the whole model, so a step has one parallel region. Tasks have about as many rows: as few as keep all threads at
  // work, down to 64, since every task reads all weights.
  std::size_t total = 0;
  for (const SlotTokens& entry : entries) total += entry.tokens.size();
  const std::size_t threads = state_->model.threads().size();
  const std::size_t tasks = std::max(total / 64, threads);
  struct Chunk {
    std::size_t first, count;
    int rows;
  };
  std::vector<Chunk> chunks;
  std::size_t done = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (chunks.empty() || done * tasks >= chunks.size() * total) chunks.push_back({i, 0, 0});
    ++chunks.back().count;
    chunks.back().rows += static_cast<int>(entries[i].tokens.size());
    done += entries[i].tokens.size();
  }
  const std::size_t vocab = state_->model.layout().config().vocab_size;
  state_->model.threads().parallel_for(static_cast<int>(chunks.size()), [&](int i) {
    const Chunk& chunk = chunks[i];
    state_->run(entries.subspan(chunk.first, chunk.count), chunk.rows, logits.data() + chunk.first * vocab);
  });
  for (const SlotTokens& entry : entries) state_->slots.grow(entry.slot, static_cast<int>(entry.tokens.size()));
}

void Decoder::State::check(std::span<const SlotTokens> entries, std::span<const float> logits) const {
  const ModelConfig& config = model.layout().config();
  if (logits.size() != entries.size() * config.vocab_size) throw std::invalid_argument("logits must be [entries, vocab]");
  std::vector<bool> taken(slots.count());
  for (const SlotTokens& entry : entries) {
    if (entry.tokens.empty()) throw std::invalid_argument("no tokens for a slot");
    if (slots.length(entry.slot) + entry.tokens.size() > static_cast<std::size_t>(context)) throw std::out_of_range("tokens beyond the context");
    if (taken[entry.slot]) throw std::invalid_argument("a slot twice in one call");
    taken[entry.slot] = true;
    for (const std::int32_t token : entry.tokens)
      if (token < 0 || token >= config.vocab_size) throw std::out_of_range("token outside the vocabulary");
  }
}

void Decoder::State::run(std::span<const SlotTokens> entries, int rows, float* logits) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const Model::Packed& packed = model.packed();
  const float* const weights = model.weights().data();
  const std::size_t n = rows;
  const auto [scratch, x, normed, qkv, attended, gate_up, hidden, position_words] =
      carve(thread_memory(), {decode_attention_scratch(model, context), n * width.hidden, n * width.hidden, n * width.qkv, n * width.queries,
                              n * 2 * width.intermediate, n * width.intermediate, n});
  std::int32_t* const positions = reinterpret_cast<std::int32_t*>(position_words);

  std::size_t row = 0;
  for (const SlotTokens& entry : entries)
    for (std::size_t i = 0; i < entry.tokens.size(); ++i, ++row) {
      positions[row] = slots.length(entry.slot) + static_cast<std::int32_t>(i);
      std::copy_n(weights + packed.offsets.embedding + static_cast<std::size_t>(entry.tokens[i]) * width.hidden, width.hidden, x + row * width.hidden);
    }
  for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
    project_qkv(model, layer, rows, x, positions, rotary, normed, qkv, nullptr);
    decode_attention(model, slots, entries, layer, qkv, attended, scratch, context);
    output_and_mlp(model, layer, rows, x, attended, x, normed, gate_up, hidden, x, nullptr);
  }
  row = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    row += entries[i].tokens.size();
    k.norm(1, width.hidden, x + (row - 1) * width.hidden, weights + packed.offsets.final_norm, config.rms_norm_eps, normed + i * width.hidden, nullptr);
  }
  multiply_forward(model, packed.head, static_cast<int>(entries.size()), normed, nullptr, 0, logits);
}

}  // namespace starpo
