#pragma once

#include <cstdint>

namespace starpo::cuda {

// One layer's keys (rotated) and values, in device memory. A slot may share its first tokens, a group's
// prompt, with another slot: positions before prefix_length[slot] are read from prefix_slot[slot]. Every token is
// stored at its own position.
template <class T>
struct KvCache {
  T* keys;    // [slots][kv_heads][context][head_dim]
  T* values;  // the same
  int slots;
  int kv_heads;
  int context;
  int head_dim;
  const std::int32_t* prefix_slot;    // [slots]; device memory, as all here
  const std::int32_t* prefix_length;  // [slots]; 0: no shared prefix
};

}  // namespace starpo::cuda
