#include "engine/cuda/kernels/convert.h"

#include <algorithm>

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {
namespace {

constexpr int kConvertThreads = 256;

// A grid-stride loop over groups of eight elements, so that most loads and stores are 16 bytes.
template <class T>
__global__ void __launch_bounds__(kConvertThreads)
    convert_kernel(std::size_t groups, std::size_t count, const float* from, T* to) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t group = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; group < groups;
       group += stride) {
    const std::size_t first = group * 8;
    if (first + 8 <= count) {
      float values[8];
      load_eight(from + first, values);
      store_eight(to + first, values);
    } else {
      for (std::size_t i = first; i < count; ++i) to[i] = from_float<T>(from[i]);
    }
  }
}

}  // namespace

template <class T>
void convert(Stream& stream, std::size_t count, const float* from, T* to) {
  if (count == 0) return;
  const std::size_t groups = (count + 7) / 8, max_blocks = 132 * 16;
  const auto blocks = static_cast<unsigned>(std::min(max_blocks, (groups + kConvertThreads - 1) / kConvertThreads));
  STARPO_LAUNCH(stream, dim3(blocks), dim3(kConvertThreads), 0, (convert_kernel<T>), groups, count, from, to);
}

template void convert(Stream&, std::size_t, const float*, Bf16*);
template void convert(Stream&, std::size_t, const float*, float*);

}  // namespace starpo::cuda
