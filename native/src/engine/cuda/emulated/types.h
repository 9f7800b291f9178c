#pragma once

// CUDA's vector types, with its names and alignments, for kernels compiled as C++.

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define STARPO_VECTOR_TYPES(name, element)                                             \
  struct alignas(2 * sizeof(element)) name##2 { element x, y; };                       \
  struct name##3 { element x, y, z; };                                                 \
  struct alignas(16) name##4 { element x, y, z, w; };                                  \
  inline name##2 make_##name##2(element x, element y) { return {x, y}; }               \
  inline name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  inline name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }

STARPO_VECTOR_TYPES(float, float)
STARPO_VECTOR_TYPES(int, int)
#undef STARPO_VECTOR_TYPES

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
