#pragma once

#include <cstdint>

#include "engine/cuda/kernels/kv_cache.h"
#include "engine/cuda/runtime/stream.h"

// Rotary position embedding (Su et al., arXiv 2104.09864) in Hugging Face's layout: element i of a head's first half
// pairs with element i of its second. T: Bf16 or float. All pointers are device memory; rows of qkv are aligned to 16
// bytes, and head_dim is a multiple of 16.
namespace starpo::cuda {

// What a row [queries | keys | values] consists of.
struct QkvShape {
  int heads;     // of queries
  int kv_heads;  // of keys and of values
  int head_dim;
  int columns() const { return (heads + 2 * kv_heads) * head_dim; }
};

// Cosines and sines, [positions, head_dim / 2]: model/rope.h's.
struct RotaryTables {
  const float* cosines;
  const float* sines;
};

// In place: adds bias [columns] (null: none) and rotates queries and keys of row r to positions[r]. qkv: [rows,
// columns].
template <class T>
void bias_rope(Stream&, int rows, const QkvShape&, T* qkv, const float* bias, const std::int32_t* positions,
               const RotaryTables&);

// The same; then keys and values of row r are stored in the cache at row_slot[r], positions[r]. Rows with a negative
// slot are not stored.
template <class T>
void bias_rope_append(Stream&, int rows, const QkvShape&, T* qkv, const float* bias, const std::int32_t* positions,
                      const RotaryTables&, const KvCache<T>&, const std::int32_t* row_slot);

// In place: gradients of rotated queries and keys become those of what was rotated.
template <class T>
void rope_backward(Stream&, int rows, const QkvShape&, T* qkv_gradient, const std::int32_t* positions,
                   const RotaryTables&);

}  // namespace starpo::cuda
