#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"

// Loads and stores of eight consecutive numbers as fp32, the unit of work of a thread. They are one vector of 16 bytes
// in bf16 and two in fp32.
namespace starpo::cuda {

// p must be aligned to 16 bytes.
template <class T>
__device__ __forceinline__ void load_eight(const T* p, float (&values)[8]) {
  constexpr int width = Vector<T>::size;
#pragma unroll
  for (int part = 0; part < 8; part += width) {
    const Vector<T> loaded = Vector<T>::load(p + part);
#pragma unroll
    for (int i = 0; i < width; ++i) values[part + i] = to_float(loaded[i]);
  }
}

// Rounds two numbers per instruction.
__device__ __forceinline__ void store_eight(Bf16* p, const float (&values)[8]) {
  unsigned pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = pack_bf16(values[2 * i], values[2 * i + 1]);
  Vector<Bf16> stored;
  memcpy(&stored, pairs, sizeof stored);
  stored.store(p);
}

__device__ __forceinline__ void store_eight(float* p, const float (&values)[8]) {
  constexpr int width = Vector<float>::size;
#pragma unroll
  for (int part = 0; part < 8; part += width) {
    Vector<float> stored;
#pragma unroll
    for (int i = 0; i < width; ++i) stored[i] = values[part + i];
    stored.store(p + part);
  }
}

// Load or store group `group` (eight elements) of a row of any length and alignment. Complete groups use vectors if
// `aligned`. Elements past the end load as `padding` and are not stored.
template <class T>
__device__ __forceinline__ void load_group(const T* row, int group, int length, bool aligned, float padding,
                                           float (&values)[8]) {
  const int first = group * 8;
  if (aligned && first + 8 <= length) {
    load_eight(row + first, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = first + i < length ? to_float(row[first + i]) : padding;
}

template <class T>
__device__ __forceinline__ void store_group(T* row, int group, int length, bool aligned, const float (&values)[8]) {
  const int first = group * 8;
  if (aligned && first + 8 <= length) {
    store_eight(row + first, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (first + i < length) row[first + i] = from_float<T>(values[i]);
}

template <class T>
__device__ __forceinline__ bool is_aligned(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

}  // namespace starpo::cuda
