#include "engine/cuda/engine/generator_buffers.h"

#include <algorithm>

namespace starpo::cuda {

int decode_bucket(int slots) {
  int bucket = 8;
  while (bucket < slots) bucket += bucket < 32 ? bucket : 32;
  return bucket;
}

GeneratorShape planned_shape(const EngineNeeds& needs) {
  constexpr int most_prefixes = 64;  // shared prompts that are kept at a time
  return {needs.slots, std::min(needs.groups, most_prefixes), needs.context};
}

template <class T>
GeneratorBuffers<T>::GeneratorBuffers(Arena& arena, const ModelConfig& model, const GeneratorShape& shape) {
  const Widths width(model);
  const std::size_t seats = shape.seats();
  decode_rows = decode_bucket(shape.slots);
  const std::size_t prefill_rows = std::min<std::size_t>(kPrefillRows, seats * shape.context), n = std::max<std::size_t>(decode_rows, prefill_rows);
  prefix_slot = arena.take<std::int32_t>(seats);
  prefix_length = arena.take<std::int32_t>(seats);
  const std::size_t cache = shape.cache_size(width);
  for (int i = 0; i < model.num_hidden_layers; ++i) {
    T* const keys = arena.take<T>(cache);
    T* const values = arena.take<T>(cache);
    caches.push_back({keys, values, static_cast<int>(seats), width.kv_heads, shape.cached(), width.head_dim, prefix_slot, prefix_length});
  }

  layer = {};
  layer.x = layer.middle = arena.take<float>(n * width.hidden);
  layer.normed = layer.middle_normed = arena.take<T>(n * width.hidden);
  layer.qkv = arena.take<T>(n * width.qkv);
  layer.attended = arena.take<T>(n * width.queries);
  layer.hidden = arena.take<T>(n * width.intermediate);
  delta = arena.take<T>(n * width.hidden);
  logits = arena.take<float>(static_cast<std::size_t>(decode_rows) * width.vocab);
  for (std::int32_t** each : {&row_slots, &row_tokens, &row_positions}) *each = arena.take<std::int32_t>(prefill_rows);

  row_states = arena.take<std::int32_t>(static_cast<std::size_t>(kRowStates) * decode_rows);
  std::int32_t* next = row_states;
  for (std::int32_t** each : {&rows.tokens, &rows.positions, &rows.remaining, &rows.states, &rows.logged, &this->slots, &episodes}) {
    *each = next;
    if (next) next += decode_rows;
  }
  choices = {arena.take<std::int32_t>(decode_rows), arena.take<float>(decode_rows), arena.take<float>(decode_rows), arena.take<std::int32_t>(decode_rows)};
  const std::size_t noted = static_cast<std::size_t>(decode_rows) * kStepsPerCall;
  log = {arena.take<std::int32_t>(noted), arena.take<float>(noted), arena.take<float>(noted), kStepsPerCall};
  sampler = arena.take<SamplerSettings>(1);
  stop_ids = arena.take<std::int32_t>(kMostStopIds);
  const AttentionShape attention{width.heads, width.kv_heads, width.head_dim, 1};
  key_partials = arena.take<float>(key_split_partials(attention, decode_rows, key_splits(shape.cached(), nullptr)));
}

KeySplits key_splits(int context, float* partials) { return {kKeySplit, context, partials}; }

HostBuffers::HostBuffers(int rows)
    : decode_rows(rows), row_states(static_cast<std::size_t>(kRowStates) * rows), sampler(1), stop_ids(kMostStopIds), ids(static_cast<std::size_t>(rows) * kStepsPerCall),
      logprobs(ids.size()), entropies(ids.size()) {}

// In the order in which GeneratorBuffers lays them out.
void HostBuffers::set_row(int index, const HostRow& row) {
  std::int32_t* place = row_states.data() + index;
  for (const std::int32_t value : {row.token, row.position, row.remaining, static_cast<std::int32_t>(row.state), row.logged, row.slot, row.episode}) {
    *place = value;
    place += decode_rows;
  }
}

HostRow HostBuffers::row(int index) const {
  const auto at = [&](int which) { return row_states[static_cast<std::size_t>(which) * decode_rows + index]; };
  return {at(0), at(1), at(2), static_cast<RowState>(at(3)), at(4), at(5), at(6)};
}

template struct GeneratorBuffers<Bf16>;
template struct GeneratorBuffers<float>;

}  // namespace starpo::cuda
