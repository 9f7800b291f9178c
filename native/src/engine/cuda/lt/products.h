#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/lt/api.h"
#include "engine/cuda/lt/library.h"

namespace starpo::cuda::lt {

// All that a product's algorithm depends on. Factors are bf16, sums fp32.
struct Shape {
  GemmLayout layout;
  int m, n, k, lda, ldb, ldc;
  DataType result;
  std::uint32_t alignment;  // of every matrix, bytes
  auto operator<=>(const Shape&) const = default;
};

// What cuBLASLt is told of a product and of which algorithms will do. Making it needs no GPU.
class Description {
 public:
  Description(const Functions& functions, const Shape& shape, std::size_t workspace_bytes);
  ~Description();
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  // Empty, or what the library didn't take, as "alignment_a (status 7)": then there is no such product.
  const std::string& refused() const { return refused_; }

  Descriptor operation() const { return operation_; }
  Descriptor a() const { return a_; }  // the library's first factor, which is our second
  Descriptor b() const { return b_; }
  Descriptor c() const { return c_; }  // of what is added and of the result
  Descriptor preference() const { return preference_; }

 private:
  bool taken(const char* what, Status status);

  const Functions& f_;
  Descriptor operation_ = nullptr, a_ = nullptr, b_ = nullptr, c_ = nullptr, preference_ = nullptr;
  std::string refused_;
};

// Matrix products by cuBLASLt, with what its heuristic chose remembered for each shape. For one stream at a time, whose
// workspace it is.
class Products {
 public:
  // workspace: aligned to 256 bytes. Throws std::runtime_error where the library doesn't start (as without a GPU).
  Products(const Library& library, void* workspace, std::size_t workspace_bytes);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // False for a product with a bias, which is the own kernels', and where the library has no algorithm for it or fails:
  // then nothing has been done.
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
