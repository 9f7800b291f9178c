#include "engine/cuda/kernels/gemm.h"

#include "engine/cuda/portable/bf16.h"

namespace starpo::cuda {

namespace {

template <typename T, typename Out>
void planned(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  const std::size_t partials = workspace.partials ? workspace.size : 0;
  gemm_planned(stream, layout, gemm, plan_gemm(layout, gemm.m, gemm.n, gemm.k, gemm.exact, partials, workspace.multiprocessors), workspace);
}

}  // namespace

template <typename T, typename Out>
void gemm_nt(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  planned(stream, GemmLayout::nt, gemm, workspace);
}

template <typename T, typename Out>
void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  planned(stream, GemmLayout::nn, gemm, workspace);
}

template <typename T, typename Out>
void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  planned(stream, GemmLayout::tn, gemm, workspace);
}

template <typename T>
void gemm_swiglu(Stream& stream, const Gemm<T>& gemm, const GemmWorkspace& workspace) {
  // The tiles have as many columns of gate as of up: 2n in all.
  gemm_swiglu_planned(stream, gemm, plan_gemm(GemmLayout::nt, gemm.m, 2 * gemm.n, gemm.k, true, 0, workspace.multiprocessors));
}

#define STARPO_INSTANTIATE(T, Out)                                                        \
  template void gemm_nt(Stream&, const Gemm<T, Out>&, const GemmWorkspace&);              \
  template void gemm_nn(Stream&, const Gemm<T, Out>&, const GemmWorkspace&);              \
  template void gemm_tn(Stream&, const Gemm<T, Out>&, const GemmWorkspace&)
STARPO_INSTANTIATE(Bf16, Bf16);
STARPO_INSTANTIATE(Bf16, float);
STARPO_INSTANTIATE(float, float);
#undef STARPO_INSTANTIATE
template void gemm_swiglu(Stream&, const Gemm<Bf16>&, const GemmWorkspace&);
template void gemm_swiglu(Stream&, const Gemm<float>&, const GemmWorkspace&);

}  // namespace starpo::cuda
