#pragma once

#include <cstddef>

#include "engine/cuda/portable/cuda.h"

// Where the rows of a walk lie: what differs between packed sequences and the cache.
namespace starpo::cuda {

// The keys and values of one head of one sequence, by position.
template <class T>
struct KeyRows {
  const T* keys;  // of position 0
  const T* values;
  const T* prefix_keys;  // of position 0, for the positions before `prefix`
  const T* prefix_values;
  int prefix;
  std::ptrdiff_t stride;

  __device__ __forceinline__ const T* key(int position) const { return (position < prefix ? prefix_keys : keys) + position * stride; }
  __device__ __forceinline__ const T* value(int position) const { return (position < prefix ? prefix_values : values) + position * stride; }
};

// The queries of a block: row i is head i % group of token i / group.
template <class T>
struct QueryRows {
  const T* queries;
  std::ptrdiff_t query_stride;  // from a token to the next
  T* attended;
  std::ptrdiff_t attended_stride;
  const std::int32_t* positions;  // of the tokens; null: they follow first_position
  int first_position;
  int group;
  int count;  // rows

  template <int HeadDim>
  __device__ __forceinline__ const T* query(int row) const {
    return queries + row / group * query_stride + row % group * HeadDim;
  }
  template <int HeadDim>
  __device__ __forceinline__ T* output(int row) const {
    return attended + row / group * attended_stride + row % group * HeadDim;
  }
  // The last position that a row sees. Rows past the end see what the last one does: whatever they compute is defined and goes nowhere.
  __device__ __forceinline__ int limit(int row) const {
    const int token = (row < count ? row : count - 1) / group;
    return positions == nullptr ? first_position + token : positions[token];
  }
};

}  // namespace starpo::cuda
