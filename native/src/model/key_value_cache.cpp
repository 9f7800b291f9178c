#include "model/key_value_cache.h"

#include <algorithm>

#include "ops/cpu/kernels.h"

namespace starpo {

namespace {

void put(float value, float& place) { place = value; }
void put(float value, Bf16& place) { place = to_bf16(value); }

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

void KeyValueCache::copy(int from, int to, int length) {
  precision_ == Precision::bf16 ? copy_as<Bf16>(from, to, length) : copy_as<float>(from, to, length);
}

template <class Number>
void KeyValueCache::store_as(int slot, int layer, int position, const float* qkv) {
  const int dim = width_.head_dim;
  const std::size_t column = static_cast<std::size_t>(position / kPanel) * dim * kPanel + position % kPanel;
  for (int head = 0; head < width_.kv_heads; ++head) {
    Number* const keys = at<Number>(slot, layer, head);
    Number* const values = keys + keys_size_ + static_cast<std::size_t>(position) * dim;
    const float* const key = qkv + width_.queries + head * dim;
    for (int d = 0; d < dim; ++d) put(key[d], keys[column + static_cast<std::size_t>(d) * kPanel]);
    for (int d = 0; d < dim; ++d) put(key[width_.keys + d], values[d]);
  }
}

template <class Number>
void KeyValueCache::copy_as(int from, int to, int length) {
  for (int layer = 0; layer < layers_; ++layer)
    for (int head = 0; head < width_.kv_heads; ++head) {
      const Number* const source = at<Number>(from, layer, head);
      Number* const destination = at<Number>(to, layer, head);
      std::copy_n(source, packed_size(width_.head_dim, length), destination);
      std::copy_n(source + keys_size_, static_cast<std::size_t>(length) * width_.head_dim, destination + keys_size_);
    }
}

void KeyValueCache::expand(int slot, int layer, int head, int length, float* keys, float* values) const {
  const Bf16* const source = at<Bf16>(slot, layer, head);
  std::transform(source, source + packed_size(width_.head_dim, length), keys, from_bf16);
  std::transform(source + keys_size_, source + keys_size_ + static_cast<std::size_t>(length) * width_.head_dim, values, from_bf16);
}

}  // namespace starpo
