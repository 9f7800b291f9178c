#include "engine/cuda/lt/matmul.h"

#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "base/error.h"
#include "engine/cuda/lt/products.h"
#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/gemm_problem.h"

namespace starpo::cuda {
namespace {

const char* layout_name(GemmLayout layout) {
  switch (layout) {
    case GemmLayout::nt: return "nt";
    case GemmLayout::nn: return "nn";
    case GemmLayout::tn: return "tn";
  }
  return "";
}

// Returns the sizes of a product: "nt 32768x9728x896".
template <typename T, typename Out>
std::string name_of(GemmLayout layout, const Gemm<T, Out>& gemm) {
  return std::string(layout_name(layout)) + " " + std::to_string(gemm.m) + "x" + std::to_string(gemm.n) + "x" +
         std::to_string(gemm.k);
}

// Returns an empty string if a small product is correct, or a clause about the error.
template <typename Out>
std::string check_layout(Stream& stream, lt::Products& products, GemmLayout layout, const char* name, bool accumulate) {
  // Three different sizes, to detect transposed operands.
  GemmProblem<Bf16, Out> problem(stream, layout, 64, 96, 128, 8);
  Gemm<Bf16, Out> gemm = problem.gemm();
  gemm.accumulate = accumulate;
  if constexpr (std::is_same_v<Out, float>)
    if (accumulate) problem.device_c.upload(stream, problem.before);
  if (!products.multiply(stream, layout, gemm)) return std::string("it has no algorithm for the product ") + name;
  const double error = normalized_mean_square_error(problem.result(stream), problem.reference(false, accumulate));
  const double tolerance = std::is_same_v<Out, float> ? kFp32Tolerance : kBf16Tolerance;
  if (error <= tolerance) return "";
  std::ostringstream text;
  text << "the error of its product " << name << " is " << error << ", above the tolerance " << tolerance;
  return text.str();
}

// Tests the library with a small product of each kind. Returns an empty string, or a clause about the first error.
std::string self_test(Stream& stream, lt::Products& products) {
  std::string failure = check_layout<float>(stream, products, GemmLayout::nt, "nt", false);
  if (failure.empty()) failure = check_layout<Bf16>(stream, products, GemmLayout::nt, "nt, rounded,", false);
  if (failure.empty()) failure = check_layout<Bf16>(stream, products, GemmLayout::nn, "nn, rounded,", false);
  if (failure.empty()) failure = check_layout<float>(stream, products, GemmLayout::tn, "tn, accumulated,", true);
  return failure;
}

}  // namespace

Matmul::Matmul(Stream& stream, MatmulMode mode, const GemmWorkspace& workspace, const lt::Search& search)
    : mode_(mode), workspace_(workspace) {
  choice_ = mode == MatmulMode::fp32
                ? "All matrix products use the trainer's own kernels, because the precision is fp32."
                : open(stream, search);
}

Matmul::~Matmul() = default;

std::string Matmul::refusals() const {
  if (counts_.refused == 0) return "";
  return "cuBLASLt refused " + std::to_string(counts_.refused) + " of " +
         std::to_string(counts_.refused + counts_.library) + " large matrix products (first " + first_refused_ +
         "), which the trainer's own, slower kernels computed";
}

std::string Matmul::open(Stream& stream, const lt::Search& search) {
  use_device(stream.device());
  std::string reason;
  const auto library = lt::open_library(search, reason, [&](const lt::Library& candidate) {
    std::string defect;
    try {
      library_ = std::make_unique<lt::Products>(candidate, workspace_.partials, workspace_.size * sizeof(float));
      defect = self_test(stream, *library_);
    } catch (const Error&) {
      throw;  // a device error, which the trainer's own kernels can't avoid either
    } catch (const std::runtime_error& error) {
      defect = error.what();
    }
    if (!defect.empty()) library_.reset();
    return defect;
  });
  if (library)
    return std::string("Large matrix products ") + (mode_ == MatmulMode::exact ? "of the backward pass " : "") +
           "use " + library->name() + "; the others use the trainer's own kernels.";
  return "All matrix products use the trainer's own kernels: " + reason + ".";
}

template <typename T, typename Out>
bool Matmul::try_library(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm) {
  if constexpr (std::is_same_v<T, Bf16>) {
    const int tokens = layout == GemmLayout::tn ? gemm.k : gemm.m;
    if (!gemm.exact && prefers_library(tokens, static_cast<double>(gemm.m) * gemm.n * gemm.k)) {
      use_device(stream.device());
      if (library_->multiply(stream, layout, gemm)) {
        ++counts_.library;
        return true;
      }
      if (counts_.refused++ == 0) first_refused_ = name_of(layout, gemm);
    }
  }
  ++counts_.own;
  return false;
}

template <typename T, typename Out>
void Matmul::gemm_nt(Stream& stream, Gemm<T, Out> gemm) {
  gemm.exact = gemm.exact || mode_ == MatmulMode::exact;
  if (!try_library(stream, GemmLayout::nt, gemm)) cuda::gemm_nt(stream, gemm, workspace_);
}

template <typename T, typename Out>
void Matmul::gemm_nn(Stream& stream, const Gemm<T, Out>& gemm) {
  if (!try_library(stream, GemmLayout::nn, gemm)) cuda::gemm_nn(stream, gemm, workspace_);
}

template <typename T, typename Out>
void Matmul::gemm_tn(Stream& stream, const Gemm<T, Out>& gemm) {
  if (!try_library(stream, GemmLayout::tn, gemm)) cuda::gemm_tn(stream, gemm, workspace_);
}

template <typename T>
void Matmul::gemm_swiglu(Stream& stream, const Gemm<T>& gemm) {
  ++counts_.own;
  cuda::gemm_swiglu(stream, gemm, workspace_);
}

#define STARPO_INSTANTIATE(T, Out)                             \
  template void Matmul::gemm_nt(Stream&, Gemm<T, Out>);        \
  template void Matmul::gemm_nn(Stream&, const Gemm<T, Out>&); \
  template void Matmul::gemm_tn(Stream&, const Gemm<T, Out>&)
STARPO_INSTANTIATE(Bf16, Bf16);
STARPO_INSTANTIATE(Bf16, float);
STARPO_INSTANTIATE(float, float);
#undef STARPO_INSTANTIATE
template void Matmul::gemm_swiglu(Stream&, const Gemm<Bf16>&);
template void Matmul::gemm_swiglu(Stream&, const Gemm<float>&);

}  // namespace starpo::cuda
