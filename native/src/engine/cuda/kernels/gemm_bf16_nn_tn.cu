#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {
namespace {

template <GemmLayout layout>
void launch_large_or_medium(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  if (tile == GemmTile::large)
    launch_gemm<LargeShape, layout, GemmEpilogue::sum>(stream, arguments, split);
  else
    launch_gemm<MediumShape, layout, GemmEpilogue::sum>(stream, arguments, split);
}

}  // namespace

void launch_gemm_nn(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  launch_large_or_medium<GemmLayout::nn>(stream, tile, arguments, split);
}

void launch_gemm_tn(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  launch_large_or_medium<GemmLayout::tn>(stream, tile, arguments, split);
}

}  // namespace starpo::cuda
