#pragma once

#include <cstdint>

namespace starpo::cuda {

// One layer's keys (rotated) and values, in device memory. A slot may borrow its first tokens, a group's prompt, from
// another slot: it reads positions before prefix_length[slot] in prefix_slot[slot] and the others in itself; every
// token lies at its own position.
template <class T>
struct KvCache {
  T* keys;    // [slots][kv_heads][context][head_dim]
  T* values;  // the same
  int slots;
  int kv_heads;
  int context;
  int head_dim;
  const std::int32_t* prefix_slot;    // [slots]; device memory, as all here
  const std::int32_t* prefix_length;  // [slots]; 0: borrows nothing
};

}  // namespace starpo::cuda
