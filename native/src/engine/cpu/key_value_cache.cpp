#include "engine/cpu/key_value_cache.h"

#include <algorithm>

namespace starpo {

namespace {

void put(float value, float& place) { place = value; }
void put(float value, Bf16& place) { place = to_bf16(value); }
float get(float number) { return number; }
float get(Bf16 number) { return from_bf16(number); }

}  // namespace

KeyValueCache::KeyValueCache(const ModelConfig& config, int slots, int context, Precision precision)
    : width_(config), layers_(config.num_hidden_layers), precision_(precision), keys_size_(packed_size(width_.head_dim, context)),
      values_size_(panels(context) * kPanel * static_cast<std::size_t>(width_.head_dim)) {
  const std::size_t numbers = static_cast<std::size_t>(slots) * layers_ * width_.kv_heads * (keys_size_ + values_size_);
  memory_.reserve(precision == Precision::bf16 ? (numbers + 1) / 2 : numbers);
}

void KeyValueCache::store(int slot, int layer, int position, const float* qkv) {
  precision_ == Precision::bf16 ? store_as<Bf16>(slot, layer, position, qkv) : store_as<float>(slot, layer, position, qkv);
}

void KeyValueCache::load(int slot, int layer, int head, int position, float* key, float* value) const {
  precision_ == Precision::bf16 ? load_as<Bf16>(slot, layer, head, position, key, value) : load_as<float>(slot, layer, head, position, key, value);
}

template <class Number>
void KeyValueCache::store_as(int slot, int layer, int position, const float* qkv) {
  const int dim = width_.head_dim;
  const std::size_t column = key_place(position);
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
  const Number* const keys = at<Number>(slot, layer, head) + key_place(position);
  const Number* const values = at<Number>(slot, layer, head) + keys_size_ + static_cast<std::size_t>(position) * dim;
  for (int d = 0; d < dim; ++d) {
    key[d] = get(keys[static_cast<std::size_t>(d) * kPanel]);
    value[d] = get(values[d]);
  }
}

void KeyValueCache::expand(int slot, int layer, int head, int length, float* keys, float* values) const {
  const Bf16* const source = at<Bf16>(slot, layer, head);
  std::transform(source, source + packed_size(width_.head_dim, length), keys, from_bf16);
  std::transform(source + keys_size_, source + keys_size_ + static_cast<std::size_t>(length) * width_.head_dim, values, from_bf16);
}

}  // namespace starpo
