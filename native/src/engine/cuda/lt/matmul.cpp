#include "engine/cuda/lt/matmul.h"

#include <stdexcept>
#include <type_traits>

#include "base/error.h"
#include "engine/cuda/lt/products.h"
#include "engine/cuda/lt/trial.h"

namespace starpo::cuda {

namespace {

// Fewer are a decode step's or a test's, and those are the own kernels'.
constexpr int kLargeTokens = 512;
constexpr double kLargeProducts = 1e7;

template <typename T, typename Out>
bool is_large(GemmLayout layout, const Gemm<T, Out>& gemm) {
  const int tokens = layout == GemmLayout::tn ? gemm.k : gemm.m;
  return tokens >= kLargeTokens && static_cast<double>(gemm.m) * gemm.n * gemm.k >= kLargeProducts;
}

}  // namespace

Matmul::Matmul(Stream& stream, MatmulMode mode, const GemmWorkspace& workspace, const lt::Search& search) : mode_(mode), workspace_(workspace) {
  switch (mode) {
    case MatmulMode::fast: choice_ = open(stream, search); break;
    case MatmulMode::exact: choice_ = "All matrix products run on the trainer's own kernels, since exact mode wants one order of summation."; break;
    case MatmulMode::fp32: choice_ = "All matrix products run on the trainer's own kernels, since the precision is fp32."; break;
  }
}

Matmul::~Matmul() = default;

std::string Matmul::open(Stream& stream, const lt::Search& search) {
  const auto without = [](const std::string& reason) { return "All matrix products run on the trainer's own kernels: " + reason + "."; };
  std::string reason;
  const auto library = lt::open_library(search, reason);
  if (!library) return without(reason);
  const std::string name = "cuBLASLt " + library->version + " (" + library->path + ")";
  try {
    library_ = std::make_unique<lt::Products>(*library, workspace_.partials, workspace_.size * sizeof(float));
    reason = lt::trial(stream, *library_);
  } catch (const Error&) {
    throw;  // the device's, of which the own kernels would make no better use
  } catch (const std::runtime_error& error) {
    reason = error.what();
  }
  if (reason.empty()) return "Large matrix products run on " + name + ", the others on the trainer's own kernels.";
  library_.reset();
  return without(name + " failed its self-test: " + reason);
}

template <typename T, typename Out>
bool Matmul::by_library(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm) {
  if constexpr (std::is_same_v<T, Bf16>) {
    if (library_ && !gemm.exact && is_large(layout, gemm)) {
      if (library_->multiply(stream, layout, gemm)) {
        ++counts_.library;
        return true;
      }
      ++counts_.refused;
    }
  }
  ++counts_.own;
  return false;
}

template <typename T, typename Out>
void Matmul::gemm_nt(Stream& stream, Gemm<T, Out> gemm) {
  gemm.exact = gemm.exact || mode_ == MatmulMode::exact;
  if (!by_library(stream, GemmLayout::nt, gemm)) cuda::gemm_nt(stream, gemm, workspace_);
}

template <typename T, typename Out>
void Matmul::gemm_nn(Stream& stream, const Gemm<T, Out>& gemm) {
  if (!by_library(stream, GemmLayout::nn, gemm)) cuda::gemm_nn(stream, gemm, workspace_);
}

template <typename T, typename Out>
void Matmul::gemm_tn(Stream& stream, const Gemm<T, Out>& gemm) {
  if (!by_library(stream, GemmLayout::tn, gemm)) cuda::gemm_tn(stream, gemm, workspace_);
}

template <typename T>
void Matmul::gemm_swiglu(Stream& stream, const Gemm<T>& gemm) {
  ++counts_.own;
  cuda::gemm_swiglu(stream, gemm, workspace_);
}

#define STARPO_INSTANTIATE(T, Out)                                        \
  template void Matmul::gemm_nt(Stream&, Gemm<T, Out>);                   \
  template void Matmul::gemm_nn(Stream&, const Gemm<T, Out>&);            \
  template void Matmul::gemm_tn(Stream&, const Gemm<T, Out>&)
STARPO_INSTANTIATE(Bf16, Bf16);
STARPO_INSTANTIATE(Bf16, float);
STARPO_INSTANTIATE(float, float);
#undef STARPO_INSTANTIATE
template void Matmul::gemm_swiglu(Stream&, const Gemm<Bf16>&);
template void Matmul::gemm_swiglu(Stream&, const Gemm<float>&);

}  // namespace starpo::cuda
