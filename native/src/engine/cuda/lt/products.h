#pragma once

#include <map>
#include <memory>

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/lt/description.h"
#include "engine/cuda/lt/library.h"

namespace starpo::cuda::lt {

// Matrix products by cuBLASLt, with what its heuristic chose remembered for each shape. For one stream at a time, whose workspace it is.
class Products {
 public:
  // workspace: aligned to 256 bytes. Throws std::runtime_error where the library doesn't start (as without a GPU).
  Products(const Library& library, void* workspace, std::size_t workspace_bytes);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // False for a product with a bias, which is the own kernels', and where the library has no algorithm for it or fails: then nothing has been done.
  template <typename Out>
  bool multiply(Stream& stream, GemmLayout layout, const Gemm<Bf16, Out>& gemm);

 private:
  struct Plan;

  Plan& plan_of(const Shape& shape);
  std::unique_ptr<Plan> make_plan(const Shape& shape) const;
  bool run(Stream& stream, Plan& plan, const void* a, const void* b, void* c, bool accumulate) const;

  const Functions functions_;
  Handle handle_ = nullptr;
  void* const workspace_;
  const std::size_t workspace_bytes_;
  std::map<Shape, std::unique_ptr<Plan>> plans_;
};

}  // namespace starpo::cuda::lt
