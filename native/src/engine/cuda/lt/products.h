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

// The properties that select an algorithm. Operands are bf16, accumulation fp32.
struct Shape {
  GemmLayout layout;
  int m, n, k, lda, ldb, ldc;
  DataType result;
  std::uint32_t alignment;  // of every matrix, bytes
  auto operator<=>(const Shape&) const = default;
};

// The cuBLASLt descriptors of a product and the algorithm preferences. Creating them needs no GPU.
class Description {
 public:
  Description(const Functions& functions, const Shape& shape, std::size_t workspace_bytes);
  ~Description();
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  // Returns the attribute that the library rejected, such as "alignment_a (status 7)", or an empty string.
  const std::string& rejected() const { return rejected_; }

  Descriptor operation() const { return operation_; }
  Descriptor a() const { return a_; }  // the library's first operand, which is our second
  Descriptor b() const { return b_; }
  Descriptor c() const { return c_; }  // the addend and the result
  Descriptor preference() const { return preference_; }

 private:
  // Returns whether the status is success. Records the first failure.
  bool accept(const char* what, Status status);

  const Functions& f_;
  Descriptor operation_ = nullptr, a_ = nullptr, b_ = nullptr, c_ = nullptr, preference_ = nullptr;
  std::string rejected_;
};

// Computes matrix products with cuBLASLt. Caches the heuristic's algorithms per shape. Use an instance on one stream at
// a time, because products share a workspace.
class Products {
 public:
  // workspace: aligned to 256 bytes. Throws std::runtime_error if the library does not start, for example without a
  // GPU.
  Products(const Library& library, void* workspace, std::size_t workspace_bytes);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // Returns false if the product has a bias, or if the library has no algorithm or fails. Then c is unchanged.
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
