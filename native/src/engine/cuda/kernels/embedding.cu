#include "engine/cuda/kernels/embedding.h"

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {
namespace {

constexpr int kEmbeddingThreads = 128;
// A block of the gradient has eight groups of sixteen lanes. A group reads 128 columns of every eighth row.
constexpr int kEmbeddingLanes = 16, kReaders = 8;
constexpr int kEmbeddingTile = kEmbeddingLanes * 8;  // columns per block

// One block per token.
template <class T>
__global__ void __launch_bounds__(kEmbeddingThreads)
    embed_kernel(int columns, const std::int32_t* ids, const T* table, float* x) {
  const std::size_t from = static_cast<std::size_t>(ids[blockIdx.x]) * columns,
                    to = static_cast<std::size_t>(blockIdx.x) * columns;
  for (int group = threadIdx.x; group < columns / 8; group += kEmbeddingThreads) {
    float values[8];
    load_eight(table + from + group * 8, values);
    store_eight(x + to + group * 8, values);
  }
}

// Grid: (unique ids, tiles of columns). The readers' sums are added in order, without atomics, so that the result is
// deterministic.
__global__ void __launch_bounds__(kEmbeddingLanes* kReaders)
    embedding_gradient_kernel(int columns, const std::int32_t* ids, const std::int32_t* starts,
                              const std::int32_t* rows, const float* x_gradient, float* table_gradient) {
  STARPO_SHARED(float, reader_sums[kReaders * kEmbeddingTile]);
  const int lane = threadIdx.x % kEmbeddingLanes, reader = threadIdx.x / kEmbeddingLanes;
  const int column = blockIdx.y * kEmbeddingTile + lane * 8;
  float sum[8] = {};
  if (column < columns) {
    for (int i = starts[blockIdx.x] + reader; i < starts[blockIdx.x + 1]; i += kReaders) {
      float values[8];
      load_eight(x_gradient + static_cast<std::size_t>(rows[i]) * columns + column, values);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum[k] += values[k];
    }
  }
  store_eight(reader_sums + reader * kEmbeddingTile + lane * 8, sum);
  __syncthreads();
  const int own = blockIdx.y * kEmbeddingTile + static_cast<int>(threadIdx.x);
  if (own >= columns) return;
  float total = 0;
  for (int r = 0; r < kReaders; ++r) total += reader_sums[r * kEmbeddingTile + threadIdx.x];
  table_gradient[static_cast<std::size_t>(ids[blockIdx.x]) * columns + own] += total;
}

}  // namespace

template <class T>
void embed(Stream& stream, int tokens, int columns, const std::int32_t* ids, const T* table, float* x) {
  STARPO_LAUNCH(stream, tokens, kEmbeddingThreads, 0, (embed_kernel<T>), columns, ids, table, x);
}

void embedding_gradient(Stream& stream, int unique, int columns, const std::int32_t* ids, const std::int32_t* starts,
                        const std::int32_t* rows, const float* x_gradient, float* table_gradient) {
  const dim3 grid(unique, (columns + kEmbeddingTile - 1) / kEmbeddingTile);
  STARPO_LAUNCH(stream, grid, kEmbeddingLanes * kReaders, 0, (embedding_gradient_kernel), columns, ids, starts, rows,
                x_gradient, table_gradient);
}

template void embed(Stream&, int, int, const std::int32_t*, const float*, float*);
template void embed(Stream&, int, int, const std::int32_t*, const Bf16*, float*);

}  // namespace starpo::cuda
