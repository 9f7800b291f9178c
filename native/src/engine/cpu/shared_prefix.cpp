#include "engine/cpu/shared_prefix.h"

#include "engine/cpu/kernels/kernels.h"

namespace starpo {

SharedPrefix::SharedPrefix(const ModelConfig& config, int length)
    : width_(config), length_(length), keys_size_(packed_size(width_.head_dim, length)), values_size_(packed_size(length, width_.head_dim)),
      memory_(static_cast<std::size_t>(config.num_hidden_layers) * width_.kv_heads * (keys_size_ + values_size_)) {}

std::size_t SharedPrefix::key_place(int position, int d) const {
  return (static_cast<std::size_t>(position / kPanel) * width_.head_dim + d) * kPanel + position % kPanel;
}

std::size_t SharedPrefix::value_place(int position, int d) const {
  return (static_cast<std::size_t>(d / kPanel) * length_ + position) * kPanel + d % kPanel;
}

void SharedPrefix::store(int layer, int head, int position, const float* key, const float* value) {
  float* const keys = block(layer, head);
  float* const values = keys + keys_size_;
  for (int d = 0; d < width_.head_dim; ++d) {
    keys[key_place(position, d)] = key[d];
    values[value_place(position, d)] = value[d];
  }
}

void SharedPrefix::load(int layer, int head, int position, float* key, float* value) const {
  for (int d = 0; d < width_.head_dim; ++d) {
    key[d] = keys(layer, head)[key_place(position, d)];
    value[d] = values(layer, head)[value_place(position, d)];
  }
}

}  // namespace starpo
