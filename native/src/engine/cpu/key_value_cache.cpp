#include "engine/cpu/key_value_cache.h"

#include <algorithm>
#include <stdexcept>

namespace starpo {
namespace {

void put(float value, float& target) { target = value; }
void put(float value, Bf16& target) { target = to_bf16(value); }
float get(float number) { return number; }
float get(Bf16 number) { return from_bf16(number); }

}  // namespace

KeyValueCache::KeyValueCache(const ModelConfig& config, int slots, int context, Precision precision)
    : width_(config),
      layers_(config.num_hidden_layers),
      precision_(precision),
      keys_size_(packed_size(width_.head_dim, context)),
      values_size_(panels(context) * kPanel * static_cast<std::size_t>(width_.head_dim)) {
  const std::size_t numbers = static_cast<std::size_t>(slots) * layers_ * width_.kv_heads * (keys_size_ + values_size_);
  memory_.reserve(precision == Precision::bf16 ? (numbers + 1) / 2 : numbers);
}

std::int64_t KeyValueCache::bytes(const ModelConfig& config, int slots, int context, Precision precision) {
  const std::int64_t per_head = static_cast<std::int64_t>(
      packed_size(config.head_dim, context) + panels(context) * kPanel * static_cast<std::size_t>(config.head_dim));
  return per_head * slots * config.num_hidden_layers * config.num_key_value_heads *
         (precision == Precision::bf16 ? 2 : 4);
}

void KeyValueCache::store(int slot, int layer, int position, const float* qkv) {
  precision_ == Precision::bf16 ? store_as<Bf16>(slot, layer, position, qkv)
                                : store_as<float>(slot, layer, position, qkv);
}

void KeyValueCache::load(int slot, int layer, int head, int position, float* key, float* value) const {
  precision_ == Precision::bf16 ? load_as<Bf16>(slot, layer, head, position, key, value)
                                : load_as<float>(slot, layer, head, position, key, value);
}

template <class Number>
void KeyValueCache::store_as(int slot, int layer, int position, const float* qkv) {
  const int dim = width_.head_dim;
  const std::size_t column = key_offset(position);
  for (int head = 0; head < width_.kv_heads; ++head) {
    Number* const keys = at<Number>(slot, layer, head);
    Number* const values = keys + keys_size_ + static_cast<std::size_t>(position) * dim;
    const float* const key = qkv + width_.queries + head * dim;
    for (int d = 0; d < dim; ++d) put(key[d], keys[column + static_cast<std::size_t>(d) * kPanel]);
    for (int d = 0; d < dim; ++d) put(key[width_.keys + d], values[d]);
  }
}

template <class Number>
void KeyValueCache::load_as(int slot, int layer, int head, int position, float* key, float* value) const {
  const int dim = width_.head_dim;
  const Number* const keys = at<Number>(slot, layer, head) + key_offset(position);
  const Number* const values = at<Number>(slot, layer, head) + keys_size_ + static_cast<std::size_t>(position) * dim;
  for (int d = 0; d < dim; ++d) {
    key[d] = get(keys[static_cast<std::size_t>(d) * kPanel]);
    value[d] = get(values[d]);
  }
}

void KeyValueCache::expand(int slot, int layer, int head, int length, float* keys, float* values) const {
  const Bf16* const source = at<Bf16>(slot, layer, head);
  std::transform(source, source + packed_size(width_.head_dim, length), keys, from_bf16);
  std::transform(source + keys_size_, source + keys_size_ + static_cast<std::size_t>(length) * width_.head_dim, values,
                 from_bf16);
}

SharedPrefix::SharedPrefix(const ModelConfig& config, int length)
    : width_(config),
      length_(length),
      keys_size_(packed_size(width_.head_dim, length)),
      values_size_(packed_size(length, width_.head_dim)),
      memory_(static_cast<std::size_t>(config.num_hidden_layers) * width_.kv_heads * (keys_size_ + values_size_)) {}

std::size_t SharedPrefix::key_offset(int position, int d) const {
  return (static_cast<std::size_t>(position / kPanel) * width_.head_dim + d) * kPanel + position % kPanel;
}

std::size_t SharedPrefix::value_offset(int position, int d) const {
  return (static_cast<std::size_t>(d / kPanel) * length_ + position) * kPanel + d % kPanel;
}

void SharedPrefix::store(int layer, int head, int position, const float* key, const float* value) {
  float* const keys = block(layer, head);
  float* const values = keys + keys_size_;
  for (int d = 0; d < width_.head_dim; ++d) {
    keys[key_offset(position, d)] = key[d];
    values[value_offset(position, d)] = value[d];
  }
}

void SharedPrefix::load(int layer, int head, int position, float* key, float* value) const {
  for (int d = 0; d < width_.head_dim; ++d) {
    key[d] = keys(layer, head)[key_offset(position, d)];
    value[d] = values(layer, head)[value_offset(position, d)];
  }
}

DecoderSlots::DecoderSlots(const ModelConfig& config, int slots, int context, Precision precision)
    : config_(config), cache_(config, slots, context, precision), slots_(slots) {}

void DecoderSlots::copy(int from, int to, int length) {
  Slot& source = slots_.at(from);
  Slot& target = slots_.at(to);
  if (length < 0 || length > source.length) throw std::out_of_range("the slot has fewer tokens than requested");
  if (length == 0) return clear(to);
  const auto prefix = length == shared(from) ? source.prefix : make_prefix(from, length);
  if (length == source.length) source.prefix = prefix;
  target = {prefix, length};
}

std::shared_ptr<const SharedPrefix> DecoderSlots::make_prefix(int slot, int length) const {
  const auto result = std::make_shared<SharedPrefix>(config_, length);
  const SharedPrefix* const existing = prefix(slot);
  const int shared_length = shared(slot);
  std::vector<float> key(config_.head_dim), value(config_.head_dim);
  for (int layer = 0; layer < config_.num_hidden_layers; ++layer)
    for (int head = 0; head < config_.num_key_value_heads; ++head)
      for (int position = 0; position < length; ++position) {
        if (position < shared_length)
          existing->load(layer, head, position, key.data(), value.data());
        else
          cache_.load(slot, layer, head, position - shared_length, key.data(), value.data());
        result->store(layer, head, position, key.data(), value.data());
      }
  return result;
}

}  // namespace starpo
