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

// Keys and values of every slot, layer and key-value head. Keys are transposed in panels of 32 tokens:
// [panels][head_dim][32]. Values are [tokens][head_dim]. bf16 halves the memory traffic, which dominates decoding.
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig&, int slots, int context, Precision);

  // Returns the bytes of the whole cache.
  static std::int64_t bytes(const ModelConfig&, int slots, int context, Precision);

  template <class Number>
  const Number* keys(int slot, int layer, int head) const {
    return at<Number>(slot, layer, head);
  }
  template <class Number>
  const Number* values(int slot, int layer, int head) const {
    return at<Number>(slot, layer, head) + keys_size_;
  }

  // Stores the keys and values of a token from its row [queries | keys | values]. In bf16, they must already be
  // rounded.
  void store(int slot, int layer, int position, const float* qkv);
  // Loads the key and value [head_dim] of a token and key-value head as floats.
  void load(int slot, int layer, int head, int position, float* key, float* value) const;

  // Converts the first `length` tokens from bf16 to floats, in the layout of the cache.
  void expand(int slot, int layer, int head, int length, float* keys, float* values) const;

 private:
  template <class Number>
  void store_as(int slot, int layer, int position, const float* qkv);
  template <class Number>
  void load_as(int slot, int layer, int head, int position, float* key, float* value) const;
  std::size_t key_offset(int position) const {
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

// Keys and values of a prefix that several slots share, as floats. Keys are [panels][head_dim][32] as in KeyValueCache,
// values [panels of head_dim][tokens][32]. With this layout both are right operands of a product whose rows are the
// queries of all slots, so that they are read once.
class SharedPrefix {
 public:
  SharedPrefix(const ModelConfig&, int length);  // length: tokens, at least 1

  int length() const { return length_; }
  const float* keys(int layer, int head) const { return block(layer, head); }
  const float* values(int layer, int head) const { return block(layer, head) + keys_size_; }

  // Store or load the key and value [head_dim] of a token and key-value head.
  void store(int layer, int head, int position, const float* key, const float* value);
  void load(int layer, int head, int position, float* key, float* value) const;

 private:
  float* block(int layer, int head) const {
    return const_cast<float*>(memory_.data()) +
           (static_cast<std::size_t>(layer) * width_.kv_heads + head) * (keys_size_ + values_size_);
  }
  std::size_t key_offset(int position, int d) const;
  std::size_t value_offset(int position, int d) const;

  Widths width_;
  int length_;
  std::size_t keys_size_, values_size_;
  AlignedBuffer memory_;
};

// The sequences of a CpuDecoder. The first tokens of a slot may be a prefix that it shares with other slots. Its other
// tokens are in its own part of the cache.
class DecoderSlots {
 public:
  DecoderSlots(const ModelConfig&, int slots, int context, Precision);

  int count() const { return static_cast<int>(slots_.size()); }
  // Returns the number of tokens in a slot.
  int length(int slot) const { return slots_.at(slot).length; }
  // Returns the shared prefix of a slot, or null.
  const SharedPrefix* prefix(int slot) const { return slots_[slot].prefix.get(); }
  // Returns the number of tokens in the shared prefix.
  int shared(int slot) const { return slots_[slot].prefix ? slots_[slot].prefix->length() : 0; }
  // Token i of a slot is at position i - shared(slot) of the cache.
  const KeyValueCache& cache() const { return cache_; }

  void clear(int slot) { slots_.at(slot) = {}; }
  // Makes slot `to` the first `length` tokens of `from`, as a shared prefix. If `from` has no other tokens, it shares
  // the prefix too.
  void copy(int from, int to, int length);

  // Stores the keys and values of a token and layer from its row [queries | keys | values]. The token may be past the
  // last token of the slot.
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
