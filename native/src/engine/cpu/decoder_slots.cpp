#include "engine/cpu/decoder_slots.h"

#include <stdexcept>

namespace starpo {

DecoderSlots::DecoderSlots(const ModelConfig& config, int slots, int context, Precision precision)
    : config_(config), cache_(config, slots, context, precision), slots_(slots) {}

void DecoderSlots::copy(int from, int to, int length) {
  Slot& source = slots_.at(from);
  Slot& target = slots_.at(to);
  if (length < 0 || length > source.length) throw std::out_of_range("slot holds fewer tokens than are to be copied");
  if (length == 0) return clear(to);
  const auto prefix = length == shared(from) ? source.prefix : make_prefix(from, length);
  if (length == source.length) source.prefix = prefix;
  target = {prefix, length};
}

std::shared_ptr<const SharedPrefix> DecoderSlots::make_prefix(int slot, int length) const {
  const auto made = std::make_shared<SharedPrefix>(config_, length);
  const SharedPrefix* const before = prefix(slot);
  const int shared_length = shared(slot);
  std::vector<float> key(config_.head_dim), value(config_.head_dim);
  for (int layer = 0; layer < config_.num_hidden_layers; ++layer)
    for (int head = 0; head < config_.num_key_value_heads; ++head)
      for (int position = 0; position < length; ++position) {
        if (position < shared_length) before->load(layer, head, position, key.data(), value.data());
        else cache_.load(slot, layer, head, position - shared_length, key.data(), value.data());
        made->store(layer, head, position, key.data(), value.data());
      }
  return made;
}

}  // namespace starpo
