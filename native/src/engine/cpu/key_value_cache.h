#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/kernels.h"
#include "model/parameters.h"
#include "model/precision.h"

namespace starpo {

// Keys and values of every slot, layer and key-value head: keys transposed in panels of 32 tokens
// [panels][head_dim][32], values [tokens][head_dim]. bf16 halves the memory traffic, which dominates
// decoding.
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig&, int slots, int context, Precision);

  // Bytes of the whole cache.
  static std::int64_t bytes(const ModelConfig&, int slots, int context, Precision);

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

  // bf16: converts the first `length` tokens to floats, in the cache's layout.
  void expand(int slot, int layer, int head, int length, float* keys, float* values) const;

 private:
  template <class Number>
  void store_as(int slot, int layer, int position, const float* qkv);
  template <class Number>
  void load_as(int slot, int layer, int head, int position, float* key, float* value) const;
  std::size_t key_place(int position) const {
    return static_cast<std::size_t>(position / kPanel) * width_.head_dim * kPanel + position % kPanel;
  }
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

// Keys and values of a prefix that several slots share, stored and read once: keys
// [panels][head_dim][32] as in KeyValueCache, values [panels of head_dim][tokens][32], so that both are operands of a
// product whose rows are the slots' queries. Always float.
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
    return const_cast<float*>(memory_.data()) +
           (static_cast<std::size_t>(layer) * width_.kv_heads + head) * (keys_size_ + values_size_);
  }
  std::size_t key_place(int position, int d) const;
  std::size_t value_place(int position, int d) const;

  Widths width_;
  int length_;
  std::size_t keys_size_, values_size_;
  AlignedBuffer memory_;
};

// The sequences of a CpuDecoder. A slot's first tokens may be a prefix shared with other slots; the rest is in its own
// part of the cache.
class DecoderSlots {
 public:
  DecoderSlots(const ModelConfig&, int slots, int context, Precision);

  int count() const { return static_cast<int>(slots_.size()); }
  int length(int slot) const { return slots_.at(slot).length; }                     // tokens
  const SharedPrefix* prefix(int slot) const { return slots_[slot].prefix.get(); }  // null without a prefix
  int shared(int slot) const {
    return slots_[slot].prefix ? slots_[slot].prefix->length() : 0;
  }  // tokens of the prefix
  const KeyValueCache& cache() const { return cache_; }  // token i is at i - shared(slot)

  void clear(int slot) { slots_.at(slot) = {}; }
  // Makes slot `to` the first `length` tokens of `from`. If `from` has no other tokens, they become a shared prefix.
  void copy(int from, int to, int length);

  // Stores a layer's keys and values of one token, which may be beyond the slot's last, from its row [queries | keys |
  // values].
  void store(int slot, int layer, int position, const float* qkv) {
    cache_.store(slot, layer, position - shared(slot), qkv);
  }
  void grow(int slot, int tokens) { slots_[slot].length += tokens; }

 private:
  struct Slot {
    std::shared_ptr<const SharedPrefix> prefix;
    int length = 0;
  };
  std::shared_ptr<const SharedPrefix> make_prefix(int slot, int length) const;

  ModelConfig config_;
  KeyValueCache cache_;
  std::vector<Slot> slots_;
};

}  // namespace starpo
