#include <stdexcept>

#include "engine/cuda/lt/matmul.h"
#include "engine/cuda/selftest/arrays.h"
#include "engine/cuda/selftest/check.h"

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

}  // namespace

std::vector<Check> matmul_checks() {
  return {{"matmul: cuBLASLt accepts the products of an update", kExact, refuses_products}};
}

}  // namespace starpo::cuda
