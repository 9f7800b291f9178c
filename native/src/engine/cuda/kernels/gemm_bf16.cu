#include "engine/cuda/kernels/gemm_bf16.cuh"

#include <cassert>
#include <cstdint>
#include <type_traits>

namespace starpo::cuda {
namespace {

constexpr int kReductionThreads = 256;

// c = sum over p of partials[p], in order. One thread per two elements. partials: [split][m][n rounded up to even].
__global__ void __launch_bounds__(kReductionThreads)
    sum_partials_kernel(const float* partials, int split, GemmResult result) {
  const int ld = result.n + result.n % 2;
  const std::size_t elements = static_cast<std::size_t>(result.m) * ld;
  const std::size_t at = (static_cast<std::size_t>(blockIdx.x) * kReductionThreads + threadIdx.x) * 2;
  if (at >= elements) return;
  float first = 0, second = 0;
  for (int part = 0; part < split; ++part) {
    const float2 sums = *reinterpret_cast<const float2*>(partials + part * elements + at);
    first += sums.x;
    second += sums.y;
  }
  store_pair(result, static_cast<int>(at / ld), static_cast<int>(at % ld), first, second);
}

template <typename Out>
GemmResult result_of(const Gemm<Bf16, Out>& gemm) {
  constexpr bool bf16 = std::is_same_v<Out, Bf16>;
  assert(!(bf16 && gemm.accumulate));
  const bool pairs = gemm.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(gemm.c) % (2 * sizeof(Out)) == 0;
  return {gemm.m, gemm.n, gemm.c, gemm.ldc, bf16, gemm.accumulate, pairs, gemm.bias};
}

template <typename Out>
void check_alignment(GemmLayout layout, const Gemm<Bf16, Out>& gemm) {
  assert(reinterpret_cast<std::uintptr_t>(gemm.a) % 16 == 0 && reinterpret_cast<std::uintptr_t>(gemm.b) % 16 == 0);
  assert(gemm.lda % kChunk == 0 && gemm.ldb % kChunk == 0);
  assert(layout != GemmLayout::nt || gemm.k % kChunk == 0);
  static_cast<void>(layout), static_cast<void>(gemm);
}

template <typename Out>
void run(Stream& stream, GemmLayout layout, const Gemm<Bf16, Out>& gemm, const GemmPlan& plan,
         const GemmWorkspace& workspace) {
  check_alignment(layout, gemm);
  GemmArguments arguments{gemm.a, gemm.b, gemm.lda, gemm.ldb, gemm.k, gemm.k, nullptr, result_of(gemm)};
  int split = 1;
  const std::size_t elements = static_cast<std::size_t>(gemm.m) * static_cast<std::size_t>(gemm.n + gemm.n % 2);
  if (plan.split > 1) {
    arguments.k_length = split_length(gemm.k, plan.split);
    split = (gemm.k + arguments.k_length - 1) / arguments.k_length;
    arguments.partials = workspace.partials;
    assert(workspace.size >= static_cast<std::size_t>(split) * elements);
  }
  const GemmStore store =
      store_of(arguments.partials ? partial_result(arguments.result, arguments.partials, 0) : arguments.result);
  switch (layout) {
    case GemmLayout::nt: launch_gemm_nt(stream, plan.tile, store, arguments, split); break;
    case GemmLayout::nn: launch_gemm_nn(stream, plan.tile, store, arguments, split); break;
    case GemmLayout::tn: launch_gemm_tn(stream, plan.tile, store, arguments, split); break;
  }
  if (!arguments.partials) return;
  const unsigned blocks = static_cast<unsigned>((elements / 2 + kReductionThreads - 1) / kReductionThreads);
  STARPO_LAUNCH(stream, blocks, kReductionThreads, 0, (sum_partials_kernel), workspace.partials, split,
                arguments.result);
}

}  // namespace

void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace) {
  run(stream, layout, gemm, plan, workspace);
}
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16, float>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace) {
  run(stream, layout, gemm, plan, workspace);
}

void gemm_swiglu_planned(Stream& stream, const Gemm<Bf16>& gemm, const GemmPlan& plan) {
  check_alignment(GemmLayout::nt, gemm);
  const GemmResult result = result_of(gemm);
  launch_gemm_swiglu(stream, plan.tile, store_of(result),
                     {gemm.a, gemm.b, gemm.lda, gemm.ldb, gemm.k, gemm.k, nullptr, result});
}

}  // namespace starpo::cuda
