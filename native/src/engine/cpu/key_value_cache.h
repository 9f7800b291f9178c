#pragma once

#include <cstddef>

#include "base/aligned_buffer.h"
#include "engine/cpu/layer_offsets.h"
#include "model/precision.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {

// Keys and values of every slot, layer and key-value head: keys transposed in panels of 32 tokens [panels][head_dim][32], values [tokens][head_dim].
// Floats, or bfloat16 numbers in half the memory: reading them is most of what decode does.
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig&, int slots, int context, Precision);

  template <class Number>
  const Number* keys(int slot, int layer, int head) const {
    return at<Number>(slot, layer, head);
  }
  template <class Number>
  const Number* values(int slot, int layer, int head) const {
    return at<Number>(slot, layer, head) + keys_size_;
  }

  // Stores one token's keys and values from its row [queries | keys | values]; in bf16 they must have been rounded.
  void store(int slot, int layer, int position, const float* qkv);
  // One token's key and value [head_dim] of one key-value head, as floats.
  void load(int slot, int layer, int head, int position, float* key, float* value) const;

  // bf16: the first `length` tokens as floats, in the cache's layout.
  void expand(int slot, int layer, int head, int length, float* keys, float* values) const;

 private:
  template <class Number>
  void store_as(int slot, int layer, int position, const float* qkv);
  template <class Number>
  void load_as(int slot, int layer, int head, int position, float* key, float* value) const;
  std::size_t key_place(int position) const { return static_cast<std::size_t>(position / kPanel) * width_.head_dim * kPanel + position % kPanel; }
  template <class Number>
  Number* at(int slot, int layer, int head) const {
    return reinterpret_cast<Number*>(const_cast<float*>(memory_.data())) +
           ((static_cast<std::size_t>(slot) * layers_ + layer) * width_.kv_heads + head) * (keys_size_ + values_size_);
  }

  Widths width_;
  int layers_;
  Precision precision_;
  std::size_t keys_size_, values_size_;
  AlignedBuffer memory_;
};

}  // namespace starpo
