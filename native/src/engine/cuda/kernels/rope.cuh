#pragma once

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {

// Loads eight elements of the first half of a head, `low`, and their partners in the second half, adds the bias unless
// it is null, and rotates the pairs (rope.h) unless `cosines` is null. All pointers are those of the first element.
template <class T>
__device__ __forceinline__ void load_rotated(const T* low, int half, const float* bias, const float* cosines,
                                             const float* sines, float direction, float (&a)[8], float (&b)[8]) {
  load_eight(low, a);
  load_eight(low + half, b);
  if (bias != nullptr) {
    float added[8];
    load_eight(bias, added);
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] += added[i];
    load_eight(bias + half, added);
#pragma unroll
    for (int i = 0; i < 8; ++i) b[i] += added[i];
  }
  if (cosines != nullptr) {
    float c[8], s[8];
    load_eight(cosines, c);
    load_eight(sines, s);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float first = a[i], second = b[i], sine = s[i] * direction;
      a[i] = first * c[i] - second * sine;
      b[i] = fmaf(first, sine, second * c[i]);
    }
  }
}

}  // namespace starpo::cuda
