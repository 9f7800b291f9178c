#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {

void launch_gemm_swiglu(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments) {
  constexpr auto layout = GemmLayout::nt;
  constexpr auto epilogue = GemmEpilogue::swiglu;
  if (store != GemmStore::bf16) return launch_gemm<MediumShape, layout, epilogue, GemmStore::any>(stream, arguments, 1);
  constexpr auto pairs = GemmStore::bf16;
  switch (tile) {
    case GemmTile::large: return launch_gemm<LargeShape, layout, epilogue, pairs>(stream, arguments, 1);
    case GemmTile::medium: return launch_gemm<MediumShape, layout, epilogue, pairs>(stream, arguments, 1);
    case GemmTile::narrow: return launch_gemm<NarrowShape, layout, epilogue, pairs>(stream, arguments, 1);
    case GemmTile::small: return launch_gemm<SmallShape, layout, epilogue, pairs>(stream, arguments, 1);
    case GemmTile::row: return launch_gemm<RowShape, layout, epilogue, pairs>(stream, arguments, 1);
  }
}

}  // namespace starpo::cuda
