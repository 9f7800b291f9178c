#include <stdexcept>
#include <type_traits>

#include "engine/cuda/engine/layer.h"
#include "engine/cuda/lt/matmul.h"
#include "engine/cuda/selftest/arrays.h"
#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/gemm_problem.h"

namespace starpo::cuda {
namespace {

// Runs the large products of a Qwen2.5-0.5B update. Throws if cuBLASLt refuses one, which would run on slower kernels.
double refuses_products(Stream& stream) {
  constexpr int kTokens = 1024, kWide = 4864, kNarrow = 896;
  DeviceBuffer<float> workspace(stream, Matmul::kWorkspaceBytes / sizeof(float));
  Matmul matmul(stream, MatmulMode::fast, {workspace.data(), workspace.size(), 132});
  if (!matmul.uses_library()) return 0;
  const auto zeros = [&](std::size_t size) {
    DeviceBuffer<Bf16> buffer(stream, size);
    buffer.fill_zero(stream);
    return buffer;
  };
  const auto x = zeros(kTokens * kNarrow), hidden = zeros(kTokens * kWide), weight = zeros(kWide * kNarrow);
  auto result = zeros(kTokens * kWide);
  DeviceBuffer<float> sums(stream, kTokens * kWide);
  sums.fill_zero(stream);
  matmul.gemm_nt(stream,
                 Gemm<Bf16>{kTokens, kWide, kNarrow, x.data(), kNarrow, weight.data(), kNarrow, result.data(), kWide});
  matmul.gemm_nt(stream, Gemm<Bf16, float>{kTokens, kWide, kNarrow, x.data(), kNarrow, weight.data(), kNarrow,
                                           sums.data(), kWide});
  matmul.gemm_nn(stream, Gemm<Bf16>{kTokens, kNarrow, kWide, hidden.data(), kWide, weight.data(), kNarrow,
                                    result.data(), kNarrow});
  Gemm<Bf16, float> gradient{kWide, kNarrow, kTokens, hidden.data(), kWide, x.data(), kNarrow, sums.data(), kNarrow};
  gradient.accumulate = true;
  matmul.gemm_tn(stream, gradient);
  stream.synchronize();
  if (const std::string refusals = matmul.refusals(); !refusals.empty()) throw std::runtime_error(refusals);
  return 0;
}

// Computes a product of the language model head as the engine does, with cuBLASLt if it is installed.
template <typename Out>
double head_error(Stream& stream, GemmLayout layout, int m, int n, int k) {
  DeviceBuffer<float> workspace(stream, Matmul::kWorkspaceBytes / sizeof(float));
  Matmul matmul(stream, MatmulMode::fast, {workspace.data(), workspace.size(), 132});
  GemmProblem<Bf16, Out> problem(stream, layout, m, n, k, row_stride(n) - n);
  Gemm<Bf16, Out> gemm = problem.gemm();
  gemm.accumulate = layout == GemmLayout::tn;
  if constexpr (std::is_same_v<Out, float>)
    if (gemm.accumulate) problem.device_c.upload(stream, problem.before);
  switch (layout) {
    case GemmLayout::nt: matmul.gemm_nt(stream, gemm); break;
    case GemmLayout::nn: matmul.gemm_nn(stream, gemm); break;
    case GemmLayout::tn: matmul.gemm_tn(stream, gemm); break;
  }
  return normalized_mean_square_error(problem.result(stream), problem.reference(false, gemm.accumulate));
}

}  // namespace

std::vector<Check> matmul_checks() {
  using enum GemmLayout;
  std::vector<Check> checks{{"matmul: cuBLASLt accepts the products of an update", kExact, refuses_products}};
  constexpr int rows = 64, width = 128;  // large enough for cuBLASLt
  // 1418 is the vocabulary of resources/starter-shop, not a multiple of 8.
  for (const int vocabulary : {1418, 1419}) {
    const std::string name = ", vocabulary " + std::to_string(vocabulary);
    checks.push_back({"matmul: logits" + name, kFp32Tolerance, head_error<float>, nt, rows, vocabulary, width});
    checks.push_back(
        {"matmul: gradient of the head's input" + name, kBf16Tolerance, head_error<Bf16>, nn, rows, width, vocabulary});
    checks.push_back(
        {"matmul: gradient of the head" + name, kFp32Tolerance, head_error<float>, tn, vocabulary, width, rows});
  }
  return checks;
}

}  // namespace starpo::cuda
