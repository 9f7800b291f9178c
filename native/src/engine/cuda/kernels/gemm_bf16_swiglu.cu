#include "engine/cuda/kernels/gemm_bf16.cuh"

namespace starpo::cuda {

void launch_gemm_swiglu(Stream& stream, GemmTile tile, const GemmArguments& arguments) {
  switch (tile) {
    case GemmTile::large: return launch_gemm<LargeShape, GemmLayout::nt, GemmEpilogue::swiglu>(stream, arguments, 1);
    case GemmTile::medium: return launch_gemm<MediumShape, GemmLayout::nt, GemmEpilogue::swiglu>(stream, arguments, 1);
    case GemmTile::narrow: return launch_gemm<NarrowShape, GemmLayout::nt, GemmEpilogue::swiglu>(stream, arguments, 1);
    case GemmTile::small: return launch_gemm<SmallShape, GemmLayout::nt, GemmEpilogue::swiglu>(stream, arguments, 1);
    case GemmTile::row: return launch_gemm<RowShape, GemmLayout::nt, GemmEpilogue::swiglu>(stream, arguments, 1);
  }
}

}  // namespace starpo::cuda
