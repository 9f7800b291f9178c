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
  fast,   // large products by cuBLASLt where it is there and passes its self-test
  exact,  // the forward's results depend on no batch: own kernels, nothing split
  fp32,   // own kernels, which have no narrower numbers inside
};

// The matrix products of a model: chooses between cuBLASLt, which is faster for the update's large ones, and the own
// kernels. For one stream.
class Matmul {
 public:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what cuBLASLt is advised to get on Hopper

  // Opens and tries the library in fast mode. The workspace, of kWorkspaceBytes and in the device's memory, is the
  // stream's.
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

  // Which products run where and why, a sentence for the journal.
  const std::string& choice() const { return choice_; }
  bool uses_library() const { return library_ != nullptr; }

  struct Counts {
    std::uint64_t library = 0, own = 0;
    std::uint64_t refused = 0;  // of own: large ones that the library had no algorithm for
  };
  const Counts& counts() const { return counts_; }

 private:
  std::string open(Stream& stream, const lt::Search& search);
  template <typename T, typename Out>
  bool by_library(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm);

  const MatmulMode mode_;
  const GemmWorkspace workspace_;
  std::unique_ptr<lt::Products> library_;
  std::string choice_;
  Counts counts_;
};

}  // namespace starpo::cuda
