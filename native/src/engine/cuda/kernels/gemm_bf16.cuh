#pragma once

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/kernels/gemm_tensor_core.cuh"

namespace starpo::cuda {

// Tile m, n, k; warps along m, n; stages; blocks for each multiprocessor.
using LargeShape = GemmShape<128, 128, 32, 2, 2, 4, 2>;
using MediumShape = GemmShape<64, 64, 64, 2, 2, 4, 3>;
using NarrowShape = GemmShape<64, 32, 64, 2, 2, 4, 4>;
using SmallShape = GemmShape<32, 32, 64, 2, 2, 5, 5>;
using RowShape = GemmShape<16, 64, 64, 1, 4, 5, 4>;

template <class Shape, GemmLayout layout, GemmEpilogue epilogue>
void launch_gemm(Stream& stream, const GemmArguments& arguments, int split) {
  constexpr int tile_columns = epilogue == GemmEpilogue::swiglu ? Shape::n / 2 : Shape::n;
  const unsigned tiles_m = static_cast<unsigned>((arguments.result.m + Shape::m - 1) / Shape::m);
  const unsigned tiles_n = static_cast<unsigned>((arguments.result.n + tile_columns - 1) / tile_columns);
  STARPO_LAUNCH(stream, dim3(tiles_m * tiles_n, static_cast<unsigned>(split)), Shape::threads, Shape::shared_bytes,
                (gemm_kernel<Shape, layout, epilogue>), arguments);
}

// A file of its own for each, so that they compile side by side.
void launch_gemm_nt(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split);
void launch_gemm_nn(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split);
void launch_gemm_tn(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split);
void launch_gemm_swiglu(Stream& stream, GemmTile tile, const GemmArguments& arguments);

}  // namespace starpo::cuda
