#pragma once

#include <stdexcept>
#include <string>

#include "engine/cuda/kernels/attention_plain.cuh"
#include "engine/cuda/kernels/attention_tensor.cuh"

// Which engine walks what. All of one number type give a row the same bits.
namespace starpo::cuda {

template <class T, int HeadDim>
struct Engines {  // float
  using Forward = PlainAttention<HeadDim>;
  using Prefill = PlainAttention<HeadDim>;
  using Decode = PlainAttention<HeadDim>;
};

template <int HeadDim>
struct Engines<Bf16, HeadDim> {
  // 32 rows a warp read each key from shared memory half as often as 16 would; with 128 columns they do not fit into registers.
  using Forward = TensorAttention<HeadDim, 4, (HeadDim <= 64 ? 2 : 1), 2, 2>;
  using Prefill = TensorAttention<HeadDim, 4, 1, 2, 2>;
  // One warp for a token's heads, with blocks of keys on their way ahead of it.
  using Decode = TensorAttention<HeadDim, 1, 1, 1, 3>;
};

// Calls launch with the head dimension as a template argument.
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
