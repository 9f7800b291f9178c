#pragma once

#include <cstdint>

namespace starpo::cuda {

// The keys (rotated) and values of a layer, in device memory. A slot may share its first tokens, the prompt of a group,
// with another slot: positions before prefix_length[slot] are read from prefix_slot[slot]. Each token is stored at its
// position.
template <class T>
struct KvCache {
  T* keys;    // [slots][kv_heads][context][head_dim]
  T* values;  // the same
  int slots;
  int kv_heads;
  int context;
  int head_dim;
  const std::int32_t* prefix_slot;    // [slots]
  const std::int32_t* prefix_length;  // [slots]; 0: no shared prefix
};

}  // namespace starpo::cuda
