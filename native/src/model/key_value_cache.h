#pragma once

#include <cstddef>

#include "base/aligned_buffer.h"
#include "model/layer_offsets.h"

namespace starpo {

// Keys and values of every slot, layer and key-value head: keys transposed in panels of 32 tokens [panels][head_dim][32], values [tokens][head_dim].
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig&, int slots, int context);

  const float* keys(int slot, int layer, int head) const { return at(slot, layer, head); }
  const float* values(int slot, int layer, int head) const { return at(slot, layer, head) + keys_size_; }

  // Stores one token's keys and values from its row [queries | keys | values].
  void store(int slot, int layer, int position, const float* qkv);
  void copy(int from, int to, int length);

 private:
  float* at(int slot, int layer, int head) const {
    return const_cast<float*>(memory_.data()) + ((static_cast<std::size_t>(slot) * layers_ + layer) * width_.kv_heads + head) * (keys_size_ + values_size_);
  }

  Widths width_;
  int layers_;
  std::size_t keys_size_, values_size_;
  AlignedBuffer memory_;
};

}  // namespace starpo
