#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/lt/library.h"

namespace starpo::cuda {

namespace lt {
class Products;
}

enum class MatmulMode {
  fast,   // cuBLASLt for large products, if it is installed and passes its self-test
  exact,  // the same in the backward pass, and own kernels without split in the forward pass, so that its results don't
          // depend on the batch
  fp32,   // own kernels, without reduced precision
};

// Computes matrix products with cuBLASLt if they are large, as in an update or in a decode step of many sequences, and
// with the trainer's own kernels otherwise. Use an instance on one stream only.
class Matmul {
 public:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // recommended for cuBLASLt on Hopper

  // Products of fewer tokens use the trainer's own kernels. On an H100, the products of a decode step of 64 sequences
  // take as long with either at 0.5B and less with cuBLASLt at 1.5B; from 96, cuBLASLt's are faster at both
  // (benchmarks/results/gpu-kernels.json).
  static constexpr int kLargeTokens = 64;
  static constexpr double kLargeProducts = 1e7;

  // Opens and tests the library, except in fp32 mode. The workspace has kWorkspaceBytes in device memory.
  Matmul(Stream& stream, MatmulMode mode, const GemmWorkspace& workspace,
         const lt::Search& search = lt::default_search());
  ~Matmul();

  template <typename T, typename Out>
  void gemm_nt(Stream& stream, Gemm<T, Out> gemm);
  template <typename T, typename Out>
  void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm);
  template <typename T, typename Out>
  void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm);
  template <typename T>
  void gemm_swiglu(Stream& stream, const Gemm<T>& gemm);

  // Returns a sentence for the journal about which library computes which products and why.
  const std::string& choice() const { return choice_; }
  bool uses_library() const { return library_ != nullptr; }
  // Returns whether cuBLASLt should compute a product for this many tokens, with `products` multiply-adds.
  bool prefers_library(int tokens, double products) const {
    return uses_library() && tokens >= kLargeTokens && products >= kLargeProducts;
  }

  struct Counts {
    std::uint64_t library = 0, own = 0;
    std::uint64_t refused = 0;  // large products without an algorithm in the library, included in own
  };
  const Counts& counts() const { return counts_; }
  // Returns a sentence without its final period about the refused products, or an empty string if there are none.
  std::string refusals() const;

 private:
  std::string open(Stream& stream, const lt::Search& search);
  template <typename T, typename Out>
  // Returns false if the library did not compute the product.
  bool try_library(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm);

  const MatmulMode mode_;
  const GemmWorkspace workspace_;
  std::unique_ptr<lt::Products> library_;
  std::string choice_;
  Counts counts_;
  std::string first_refused_;
};

}  // namespace starpo::cuda
