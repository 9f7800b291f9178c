#pragma once

#include "base/aligned_buffer.h"
#include "engine/cpu/layer_offsets.h"

namespace starpo {

// Keys and values of tokens that several slots begin with, kept once and read once for all of them: keys [panels][head_dim][32] as in KeyValueCache, values
// in panels too, [panels of head_dim][tokens][32], so that both are factors of a product whose rows are the slots' queries. Floats in either precision.
class SharedPrefix {
 public:
  SharedPrefix(const ModelConfig&, int length);  // in tokens, from 1

  int length() const { return length_; }
  const float* keys(int layer, int head) const { return block(layer, head); }
  const float* values(int layer, int head) const { return block(layer, head) + keys_size_; }

  // One token's key and value [head_dim] of one key-value head.
  void store(int layer, int head, int position, const float* key, const float* value);
  void load(int layer, int head, int position, float* key, float* value) const;

 private:
  float* block(int layer, int head) const {
    return const_cast<float*>(memory_.data()) + (static_cast<std::size_t>(layer) * width_.kv_heads + head) * (keys_size_ + values_size_);
  }
  std::size_t key_place(int position, int d) const;
  std::size_t value_place(int position, int d) const;

  Widths width_;
  int length_;
  std::size_t keys_size_, values_size_;
  AlignedBuffer memory_;
};

}  // namespace starpo
