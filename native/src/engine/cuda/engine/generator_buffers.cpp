#include "engine/cuda/engine/generator_buffers.h"

#include <algorithm>
#include <type_traits>

namespace starpo::cuda {

int decode_bucket(int slots) {
  int bucket = 8;
  while (bucket < slots) bucket += bucket < 32 ? bucket : 32;
  return bucket;
}

int prefill_bucket(int tokens) {
  int step = 8;
  while (16 * step < tokens) step *= 2;
  return (tokens + step - 1) / step * step;
}

GeneratorShape planned_shape(const EngineNeeds& needs) {
  constexpr int max_prefixes = 64;  // shared prompts at a time
  return {needs.slots, std::min(needs.groups, max_prefixes), needs.context};
}

template <class T>
GeneratorBuffers<T>::GeneratorBuffers(Arena& arena, const ModelConfig& model, const GeneratorShape& shape) {
  const Widths width(model);
  const std::size_t cache_slots = shape.cache_slots();
  decode_rows = decode_bucket(shape.slots);
  const std::size_t prefill_rows = prefill_bucket(
                        static_cast<int>(std::min<std::size_t>(kPrefillRows, cache_slots * shape.context))),
                    n = std::max<std::size_t>(decode_rows, prefill_rows);
  prefix_slot = arena.allocate<std::int32_t>(cache_slots);
  prefix_length = arena.allocate<std::int32_t>(cache_slots);
  const std::size_t cache = shape.cache_size(width);
  for (int i = 0; i < model.num_hidden_layers; ++i) {
    T* const keys = arena.allocate<T>(cache);
    T* const values = arena.allocate<T>(cache);
    caches.push_back({keys, values, static_cast<int>(cache_slots), width.kv_heads, shape.context, width.head_dim,
                      prefix_slot, prefix_length});
  }

  layer = {};
  layer.x = layer.middle = arena.allocate<float>(n * width.hidden);
  layer.normed = layer.middle_normed = arena.allocate<T>(n * width.hidden);
  layer.qkv = arena.allocate<T>(n * width.qkv);
  layer.attended = arena.allocate<T>(n * width.queries);
  layer.hidden = arena.allocate<T>(n * width.intermediate);
  delta = arena.allocate<T>(n * width.hidden);
  // The layers have finished when the logits are computed. fp32 fuses SwiGLU for any number of rows.
  const std::size_t all_logits = static_cast<std::size_t>(decode_rows) * row_stride(width.vocab),
                    gate_up = std::is_same_v<T, Bf16> ? n * width.intermediate : 0;  // in floats
  logits = arena.allocate<float>(std::max(all_logits, gate_up));
  layer.gate_up = gate_up > 0 ? reinterpret_cast<T*>(logits) : nullptr;
  for (std::int32_t** each : {&row_slots, &row_tokens, &row_positions})
    *each = arena.allocate<std::int32_t>(prefill_rows);

  row_states = arena.allocate<std::int32_t>(static_cast<std::size_t>(kRowStates) * decode_rows);
  std::int32_t* next = row_states;
  for (std::int32_t** each :
       {&rows.tokens, &rows.positions, &rows.remaining, &rows.states, &rows.logged, &rows.slots, &episodes}) {
    *each = next;
    if (next) next += decode_rows;
  }
  choices = {arena.allocate<std::int32_t>(decode_rows), arena.allocate<float>(decode_rows),
             arena.allocate<float>(decode_rows), arena.allocate<std::int32_t>(decode_rows)};
  const std::size_t logged = static_cast<std::size_t>(decode_rows) * kStepsPerCall;
  log = {arena.allocate<std::int32_t>(logged), arena.allocate<float>(logged), arena.allocate<float>(logged),
         kStepsPerCall};
  sampler = arena.allocate<SamplerSettings>(1);
  stop_ids = arena.allocate<std::int32_t>(kMaxStopIds);
  const AttentionShape attention{width.heads, width.kv_heads, width.head_dim, 1};
  key_partials = arena.allocate<float>(
      key_split_partials(attention, decode_rows, key_splits(shape.context, width.head_dim, nullptr)));
}

KeySplits key_splits(int longest, int head_dim, float* partials) {
  if (key_parts(longest, head_dim) <= 1) return {};
  return {split_length(head_dim), longest, partials};
}

HostBuffers::HostBuffers(int rows)
    : decode_rows(rows),
      row_states(static_cast<std::size_t>(kRowStates) * rows),
      sampler(1),
      stop_ids(kMaxStopIds),
      ids(static_cast<std::size_t>(rows) * kStepsPerCall),
      logprobs(ids.size()),
      entropies(ids.size()) {}

// The values are in the order of the arrays in GeneratorBuffers.
void HostBuffers::set_row(int index, const HostRow& row) {
  std::int32_t* target = row_states.data() + index;
  for (const std::int32_t value : {row.token, row.position, row.remaining, static_cast<std::int32_t>(row.state),
                                   row.logged, row.slot, row.episode}) {
    *target = value;
    target += decode_rows;
  }
}

HostRow HostBuffers::row(int index) const {
  const auto at = [&](int which) { return row_states[static_cast<std::size_t>(which) * decode_rows + index]; };
  return {at(0), at(1), at(2), static_cast<RowState>(at(3)), at(4), at(5), at(6)};
}

template struct GeneratorBuffers<Bf16>;
template struct GeneratorBuffers<float>;

}  // namespace starpo::cuda
