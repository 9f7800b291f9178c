#include "model/key_value_cache.h"

#include <algorithm>

#include "ops/cpu/kernels.h"

namespace starpo {

KeyValueCache::KeyValueCache(const ModelConfig& config, int slots, int context)
    : width_(config), layers_(config.num_hidden_layers), keys_size_(packed_size(width_.head_dim, context)),
      values_size_(panels(context) * kPanel * static_cast<std::size_t>(width_.head_dim)) {
  memory_.reserve(static_cast<std::size_t>(slots) * layers_ * width_.kv_heads * (keys_size_ + values_size_));
}

void KeyValueCache::store(int slot, int layer, int position, const float* qkv) {
  const int dim = width_.head_dim;
  const std::size_t column = static_cast<std::size_t>(position / kPanel) * dim * kPanel + position % kPanel;
  for (int head = 0; head < width_.kv_heads; ++head) {
    float* const keys = at(slot, layer, head);
    const float* const key = qkv + width_.queries + head * dim;
    for (int d = 0; d < dim; ++d) keys[column + static_cast<std::size_t>(d) * kPanel] = key[d];
    std::copy_n(key + width_.keys, dim, keys + keys_size_ + static_cast<std::size_t>(position) * dim);
  }
}

void KeyValueCache::copy(int from, int to, int length) {
  for (int layer = 0; layer < layers_; ++layer)
    for (int head = 0; head < width_.kv_heads; ++head) {
      const float* const source = at(from, layer, head);
      float* const destination = at(to, layer, head);
      std::copy_n(source, packed_size(width_.head_dim, length), destination);
      std::copy_n(source + keys_size_, static_cast<std::size_t>(length) * width_.head_dim, destination + keys_size_);
    }
}

}  // namespace starpo
