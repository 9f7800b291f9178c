#pragma once

#include <stdexcept>
#include <string>

#include "engine/cuda/kernels/attention_bf16.cuh"
#include "engine/cuda/kernels/attention_fp32.cuh"

namespace starpo::cuda {

// Selects the implementation for a number type and head size. All implementations of a number type compute the same
// bits, except for FastDecode.
template <class T, int HeadDim>
struct AttentionFor {  // T = float
  using Forward = Fp32Attention<HeadDim>;
  using Prefill = Fp32Attention<HeadDim>;
  using Decode = Fp32Attention<HeadDim>;
  using FastDecode = Decode;
  // Whether decoding rotates and stores the new token itself.
  static constexpr bool kDecodeRotates = false;
};

template <int HeadDim>
struct AttentionFor<Bf16, HeadDim> {
  static constexpr bool kDecodeRotates = true;
  // 32 rows per warp halve the shared memory reads of 16, but don't fit into registers with 128 columns.
  using Forward = Bf16Attention<HeadDim, 4, (HeadDim <= 64 ? 2 : 1), 2, 2>;
  using Prefill = Bf16Attention<HeadDim, 4, 1, 2, 2>;
  // One warp computes a token's heads. Two blocks of keys are prefetched, because a single warp hides little latency.
  using Decode = Bf16Attention<HeadDim, 1, 1, 1, 3>;
  using FastDecode = Bf16Attention<HeadDim, 1, 1, 1, 3, key_warps(HeadDim)>;
};

// Calls launch<head_dim>().
template <class Launch>
void with_head_dim(int head_dim, Launch launch) {
  switch (head_dim) {
    case 16: return launch.template operator()<16>();
    case 32: return launch.template operator()<32>();
    case 64: return launch.template operator()<64>();
    case 128: return launch.template operator()<128>();
    default: throw std::invalid_argument("attention: no kernel for head_dim " + std::to_string(head_dim));
  }
}

}  // namespace starpo::cuda
