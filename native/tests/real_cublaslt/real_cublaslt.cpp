// Compares lt/api.h with NVIDIA's header at compile time, and its descriptors with NVIDIA's library at run time.
// Neither needs a GPU. This is not part of the tests: scripts/nightly-cublaslt.mjs downloads both and builds it.
//   starpo-real-cublaslt LIBRARY   prints one line of JSON; exits with 1 if the library rejects an attribute
#include <cublasLt.h>

#include <cstddef>
#include <iostream>
#include <type_traits>

#include "engine/cuda/lt/library.h"
#include "engine/cuda/lt/products.h"

namespace lt = starpo::cuda::lt;
using starpo::cuda::GemmLayout;

namespace {

template <auto declared, auto actual>
constexpr bool kSame = static_cast<long long>(declared) == static_cast<long long>(actual);

static_assert(kSame<lt::Status::success, CUBLAS_STATUS_SUCCESS>);
static_assert(kSame<lt::DataType::fp32, CUDA_R_32F> && kSame<lt::DataType::bf16, CUDA_R_16BF>);
static_assert(kSame<lt::ComputeType::fp32, CUBLAS_COMPUTE_32F>);
static_assert(kSame<lt::Operation::none, CUBLAS_OP_N> && kSame<lt::Operation::transpose, CUBLAS_OP_T>);
static_assert(kSame<lt::OperationAttribute::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA> &&
              kSame<lt::OperationAttribute::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB>);
static_assert(kSame<lt::PreferenceAttribute::workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES>);
static_assert(kSame<lt::PreferenceAttribute::reduction_schemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK>);
static_assert(kSame<lt::PreferenceAttribute::alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES>);
static_assert(kSame<lt::PreferenceAttribute::alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES>);
static_assert(kSame<lt::PreferenceAttribute::alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES>);
static_assert(kSame<lt::PreferenceAttribute::alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES>);
static_assert(kSame<lt::kReductionInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE>);

static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(lt::Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              alignof(lt::Heuristic) == alignof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(lt::Heuristic, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(lt::Heuristic, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(lt::Heuristic, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(lt::Heuristic, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
static_assert(sizeof(lt::Status) == sizeof(cublasStatus_t) && sizeof(lt::DataType) == sizeof(cudaDataType_t) &&
              sizeof(lt::ComputeType) == sizeof(cublasComputeType_t));
static_assert(sizeof(lt::OperationAttribute) == sizeof(cublasLtMatmulDescAttributes_t) &&
              sizeof(lt::PreferenceAttribute) == sizeof(cublasLtMatmulPreferenceAttributes_t));

// True if two types are passed in the same way: both pointers, or numbers of the same size.
template <class Declared, class Actual>
constexpr bool kPassedAlike =
    sizeof(Declared) == sizeof(Actual) && std::is_pointer_v<Declared> == std::is_pointer_v<Actual> &&
    std::is_floating_point_v<Declared> == std::is_floating_point_v<Actual>;

template <class Declared, class Actual>
struct CalledAlike : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct CalledAlike<R (*)(A...), S (*)(B...)> : std::bool_constant<kPassedAlike<R, S> && (kPassedAlike<A, B> && ...)> {};
#define STARPO_CALLED_ALIKE(member, function) \
  static_assert(CalledAlike<decltype(lt::Functions::member), decltype(&function)>::value, #function)
STARPO_CALLED_ALIKE(version, cublasLtGetVersion);
STARPO_CALLED_ALIKE(create, cublasLtCreate);
STARPO_CALLED_ALIKE(destroy, cublasLtDestroy);
STARPO_CALLED_ALIKE(create_operation, cublasLtMatmulDescCreate);
STARPO_CALLED_ALIKE(destroy_operation, cublasLtMatmulDescDestroy);
STARPO_CALLED_ALIKE(set_operation, cublasLtMatmulDescSetAttribute);
STARPO_CALLED_ALIKE(create_layout, cublasLtMatrixLayoutCreate);
STARPO_CALLED_ALIKE(destroy_layout, cublasLtMatrixLayoutDestroy);
STARPO_CALLED_ALIKE(create_preference, cublasLtMatmulPreferenceCreate);
STARPO_CALLED_ALIKE(destroy_preference, cublasLtMatmulPreferenceDestroy);
STARPO_CALLED_ALIKE(set_preference, cublasLtMatmulPreferenceSetAttribute);
STARPO_CALLED_ALIKE(find_algorithms, cublasLtMatmulAlgoGetHeuristic);
STARPO_CALLED_ALIKE(multiply, cublasLtMatmul);

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: starpo-real-cublaslt LIBRARY\n", 2;
  std::string reason;
  const auto library = lt::open_library({{argv[1]}, argv[1]}, reason);
  if (!library) return std::cerr << reason << "\n", 1;
  int described = 0, rejected = 0;
  for (const GemmLayout layout : {GemmLayout::nt, GemmLayout::nn, GemmLayout::tn})
    for (const lt::DataType result : {lt::DataType::bf16, lt::DataType::fp32})
      for (const std::uint32_t alignment : {2u, 16u, 256u}) {
        const lt::Description description(
            library->functions, {layout, 1180, 896, 4864, 4864, 4864, 4864, result, alignment}, std::size_t{32} << 20);
        ++described;
        if (description.rejected().empty()) continue;
        ++rejected;
        std::cerr << "layout " << static_cast<int>(layout) << ", result " << static_cast<int>(result) << ", alignment "
                  << alignment << ": " << description.rejected() << "\n";
      }
  // Without a GPU, this is CUBLAS_STATUS_NOT_INITIALIZED.
  lt::Handle handle = nullptr;
  const int created = static_cast<int>(library->functions.create(&handle));
  if (created == 0) library->functions.destroy(handle);
  std::cout << R"({"header": ")" << CUBLAS_VER_MAJOR << "." << CUBLAS_VER_MINOR << "." << CUBLAS_VER_PATCH
            << R"(", "library": ")" << library->version << R"(", "described": )" << described << R"(, "rejected": )"
            << rejected << R"(, "create_status": )" << created << "}\n";
  return rejected == 0 ? 0 : 1;
}
