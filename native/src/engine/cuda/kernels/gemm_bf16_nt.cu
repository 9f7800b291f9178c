#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {

void launch_gemm_nt(Stream& stream, GemmTile tile, const GemmArguments& arguments, int split) {
  switch (tile) {
    case GemmTile::large: return launch_gemm<LargeShape, GemmLayout::nt, GemmEpilogue::sum>(stream, arguments, split);
    case GemmTile::medium: return launch_gemm<MediumShape, GemmLayout::nt, GemmEpilogue::sum>(stream, arguments, split);
    case GemmTile::narrow: return launch_gemm<NarrowShape, GemmLayout::nt, GemmEpilogue::sum>(stream, arguments, split);
    case GemmTile::small: return launch_gemm<SmallShape, GemmLayout::nt, GemmEpilogue::sum>(stream, arguments, split);
    case GemmTile::row: return launch_gemm<RowShape, GemmLayout::nt, GemmEpilogue::sum>(stream, arguments, split);
  }
}

}  // namespace starpo::cuda
