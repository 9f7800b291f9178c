#pragma once

#include <cstdint>

#include "engine/cuda/kernels/kv_cache.h"
#include "engine/cuda/runtime/stream.h"

// Rotary position embedding (Su et al., arXiv 2104.09864) in Hugging Face's layout: element i of the first half of a
// head pairs with element i of the second half. A pair (a, b) at position p rotates to (a cos - b sin, a sin + b cos).
// T: Bf16 or float. All pointers are device memory. Rows of qkv are aligned to 16 bytes, and head_dim is a multiple of
// 16.
namespace starpo::cuda {

// The shape of a row [queries | keys | values].
struct QkvShape {
  int heads;     // of queries
  int kv_heads;  // of keys and of values
  int head_dim;
  int columns() const { return (heads + 2 * kv_heads) * head_dim; }
};

// Cosines and sines, [positions, head_dim / 2], from engine/rotary_table.h.
struct RotaryTables {
  const float* cosines;
  const float* sines;
};

// Works in place on qkv [rows, columns]: adds bias [columns] unless it is null, then rotates the queries and keys of
// row r by positions[r].
template <class T>
void bias_rope(Stream&, int rows, const QkvShape&, T* qkv, const float* bias, const std::int32_t* positions,
               const RotaryTables&);

// Does the same, then stores the keys and values of row r in the cache at row_slot[r], positions[r]. Rows with a
// negative slot are not stored.
template <class T>
void bias_rope_append(Stream&, int rows, const QkvShape&, T* qkv, const float* bias, const std::int32_t* positions,
                      const RotaryTables&, const KvCache<T>&, const std::int32_t* row_slot);

// Works in place: rotates the gradients of queries and keys back, by minus positions[r].
template <class T>
void rope_backward(Stream&, int rows, const QkvShape&, T* qkv_gradient, const std::int32_t* positions,
                   const RotaryTables&);

}  // namespace starpo::cuda
