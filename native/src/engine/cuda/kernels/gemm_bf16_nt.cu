#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {
namespace {

template <GemmStore store>
void launch(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  constexpr auto layout = GemmLayout::nt;
  constexpr auto epilogue = GemmEpilogue::sum;
  switch (tile) {
    case GemmTile::large: return launch_gemm<LargeShape, layout, epilogue, store>(stream, arguments, split);
    case GemmTile::medium: return launch_gemm<MediumShape, layout, epilogue, store>(stream, arguments, split);
    case GemmTile::narrow: return launch_gemm<NarrowShape, layout, epilogue, store>(stream, arguments, split);
    case GemmTile::small: return launch_gemm<SmallShape, layout, epilogue, store>(stream, arguments, split);
    case GemmTile::row: return launch_gemm<RowShape, layout, epilogue, store>(stream, arguments, split);
  }
}

}  // namespace

void launch_gemm_nt(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split) {
  switch (store) {
    case GemmStore::bf16: return launch<GemmStore::bf16>(stream, tile, arguments, split);
    case GemmStore::fp32: return launch<GemmStore::fp32>(stream, tile, arguments, split);
    case GemmStore::any:
    case GemmStore::fp32_accumulated:
      return launch_gemm<MediumShape, GemmLayout::nt, GemmEpilogue::sum, GemmStore::any>(stream, arguments, split);
  }
}

}  // namespace starpo::cuda
