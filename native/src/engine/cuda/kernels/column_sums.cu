#include "engine/cuda/kernels/column_sums.h"

#include <algorithm>

#include "engine/cuda/kernels/eight.h"

namespace starpo::cuda {
namespace {

constexpr int kLanes = 32, kWarps = 8;
constexpr int kTile = kLanes * 8;  // columns per block
constexpr int kMaxSlices = 64;     // of the rows
constexpr int kPartialLanes = 16;  // rows that a block of add_partials_kernel reads at a time

// partials[s, c] = sum over the rows r of slice s of factors[r] x[r, c] (factors only if weighted). Block (i, s)
// computes tile i of the columns: each warp sums every eighth row, then the warps' sums are added in order.
template <class T, bool weighted>
__global__ void __launch_bounds__(kLanes* kWarps)
    slice_sums_kernel(int rows, int columns, int slice_rows, const float* factors, const T* x, float* partials) {
  STARPO_SHARED(float, warp_sums[kWarps * kTile]);
  const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const int column = blockIdx.x * kTile + lane * 8;
  const int begin = blockIdx.y * slice_rows, end = min(rows, begin + slice_rows);
  float sum[8] = {};
  if (column < columns) {
    for (int row = begin + warp; row < end; row += kWarps) {
      float values[8];
      load_eight(x + static_cast<std::size_t>(row) * columns + column, values);
      const float factor = weighted ? factors[row] : 1.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] = weighted ? fmaf(factor, values[i], sum[i]) : sum[i] + values[i];
    }
  }
  store_eight(warp_sums + warp * kTile + lane * 8, sum);
  __syncthreads();
  const int own = blockIdx.x * kTile + static_cast<int>(threadIdx.x);
  if (own >= columns) return;
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += warp_sums[w * kTile + threadIdx.x];
  partials[static_cast<std::size_t>(blockIdx.y) * columns + own] = total;
}

// sums[c] += sum over rows of partials[r, c]. Sixteen threads per column: thread i sums the rows i, i + 16, ...; then
// the threads' sums are added in order.
__global__ void __launch_bounds__(kLanes* kPartialLanes)
    add_partials_kernel(int rows, int columns, const float* partials, float* sums) {
  STARPO_SHARED(float, lane_sums[kPartialLanes * kLanes]);
  const int lane = threadIdx.x % kLanes, first = threadIdx.x / kLanes;
  const int column = blockIdx.x * kLanes + lane;
  float sum = 0;
  if (column < columns) {
#pragma unroll 4
    for (int row = first; row < rows; row += kPartialLanes)
      sum += partials[static_cast<std::size_t>(row) * columns + column];
  }
  lane_sums[threadIdx.x] = sum;
  __syncthreads();
  if (first != 0 || column >= columns) return;
  float total = 0;
  for (int i = 0; i < kPartialLanes; ++i) total += lane_sums[i * kLanes + lane];
  sums[column] += total;
}

// Returns the rows per slice: at least 64, and enough for at most kMaxSlices slices, which fill the device.
int slice_rows(int rows) { return std::max(64, (rows + kMaxSlices - 1) / kMaxSlices); }
int slices(int rows) { return (rows + slice_rows(rows) - 1) / slice_rows(rows); }

template <class T, bool weighted>
void sum_columns(Stream& stream, int rows, int columns, const float* factors, const T* x, float* sums,
                 float* partials) {
  const dim3 grid((columns + kTile - 1) / kTile, slices(rows));
  STARPO_LAUNCH(stream, grid, kLanes * kWarps, 0, (slice_sums_kernel<T, weighted>), rows, columns, slice_rows(rows),
                factors, x, partials);
  add_partials(stream, slices(rows), columns, partials, sums);
}

}  // namespace

template <class T>
void column_sums(Stream& stream, int rows, int columns, const T* x, float* sums, float* partials) {
  sum_columns<T, false>(stream, rows, columns, nullptr, x, sums, partials);
}

template <class T>
void weighted_column_sums(Stream& stream, int rows, int columns, const float* factors, const T* x, float* sums,
                          float* partials) {
  sum_columns<T, true>(stream, rows, columns, factors, x, sums, partials);
}

std::size_t column_sums_partials(int rows, int columns) { return static_cast<std::size_t>(slices(rows)) * columns; }

void add_partials(Stream& stream, int rows, int columns, const float* partials, float* sums) {
  STARPO_LAUNCH(stream, (columns + kLanes - 1) / kLanes, kLanes * kPartialLanes, 0, (add_partials_kernel), rows,
                columns, partials, sums);
}

template void column_sums(Stream&, int, int, const float*, float*, float*);
template void column_sums(Stream&, int, int, const Bf16*, float*, float*);
template void weighted_column_sums(Stream&, int, int, const float*, const float*, float*, float*);
template void weighted_column_sums(Stream&, int, int, const float*, const Bf16*, float*, float*);

}  // namespace starpo::cuda
