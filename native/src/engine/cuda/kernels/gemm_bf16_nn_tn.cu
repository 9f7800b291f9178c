#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {
namespace {

template <GemmLayout layout, GemmStore store>
void launch_large_or_medium(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  if (tile == GemmTile::large)
    launch_gemm<LargeShape, layout, GemmEpilogue::sum, store>(stream, arguments, split);
  else
    launch_gemm<MediumShape, layout, GemmEpilogue::sum, store>(stream, arguments, split);
}

template <GemmLayout layout>
void launch_any(Stream& stream, const GemmArguments& arguments, int split) {
  launch_gemm<MediumShape, layout, GemmEpilogue::sum, GemmStore::any>(stream, arguments, split);
}

}  // namespace

// The gradient of an input is bf16.
void launch_gemm_nn(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split) {
  constexpr auto nn = GemmLayout::nn;
  switch (store) {
    case GemmStore::bf16: return launch_large_or_medium<nn, GemmStore::bf16>(stream, tile, arguments, split);
    case GemmStore::fp32: return launch_large_or_medium<nn, GemmStore::fp32>(stream, tile, arguments, split);
    case GemmStore::any:
    case GemmStore::fp32_accumulated: return launch_any<nn>(stream, arguments, split);
  }
}

// The gradient of a weight is accumulated in fp32.
void launch_gemm_tn(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split) {
  constexpr auto tn = GemmLayout::tn;
  switch (store) {
    case GemmStore::fp32: return launch_large_or_medium<tn, GemmStore::fp32>(stream, tile, arguments, split);
    case GemmStore::fp32_accumulated:
      return launch_large_or_medium<tn, GemmStore::fp32_accumulated>(stream, tile, arguments, split);
    case GemmStore::any:
    case GemmStore::bf16: return launch_any<tn>(stream, arguments, split);
  }
}

}  // namespace starpo::cuda
