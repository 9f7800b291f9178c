#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/key_value_cache.h"
#include "engine/cpu/shared_prefix.h"

namespace starpo {

// The sequences a Decoder holds: a slot's first tokens may be a prefix that it has in common with others, the rest lies in its own part of the cache.
class DecoderSlots {
 public:
  DecoderSlots(const ModelConfig&, int slots, int context, Precision);

  int count() const { return static_cast<int>(slots_.size()); }
  int length(int slot) const { return slots_.at(slot).length; }                      // tokens
  const SharedPrefix* prefix(int slot) const { return slots_[slot].prefix.get(); }   // null where there is none
  int shared(int slot) const { return slots_[slot].prefix ? slots_[slot].prefix->length() : 0; }  // tokens of the prefix
  const KeyValueCache& cache() const { return cache_; }                              // token i lies there at i - shared(slot)

  void clear(int slot) { slots_.at(slot) = {}; }
  // Slot `to` becomes the first `length` tokens of `from`, which from then on are a prefix of both where they are all that `from` holds.
  void copy(int from, int to, int length);

  // Stores a layer's keys and values of one token, which may lie behind the slot's last, from its row [queries | keys | values].
  void store(int slot, int layer, int position, const float* qkv) { cache_.store(slot, layer, position - shared(slot), qkv); }
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
