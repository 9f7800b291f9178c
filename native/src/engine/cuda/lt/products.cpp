#include "engine/cuda/lt/products.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace starpo::cuda::lt {

namespace {

constexpr std::size_t kMostPlans = 4096;  // micro-batches have many lengths; each is a few hundred bytes
constexpr std::uintptr_t kBestAlignment = 256;

std::uint32_t alignment_of(std::initializer_list<const void*> pointers) {
  std::uintptr_t bits = kBestAlignment;
  for (const void* const pointer : pointers) bits |= reinterpret_cast<std::uintptr_t>(pointer);
  return static_cast<std::uint32_t>(bits & -bits);
}

}  // namespace

// A shape's descriptors, and the algorithm that cuBLASLt named for it.
struct Products::Plan {
  Plan(const Functions& functions, const Shape& shape, std::size_t workspace_bytes) : description(functions, shape, workspace_bytes) {}

  const Description description;
  Heuristic found{};
  bool usable = false;
};

Products::Products(const Library& library, void* workspace, std::size_t workspace_bytes)
    : functions_(library.functions), workspace_(workspace), workspace_bytes_(workspace_bytes) {
  if (const Status status = functions_.create(&handle_); status != Status::success)
    throw std::runtime_error("it did not start (status " + std::to_string(static_cast<int>(status)) + ")");
}

Products::~Products() {
  plans_.clear();
  functions_.destroy(handle_);
}

std::unique_ptr<Products::Plan> Products::make_plan(const Shape& shape) const {
  auto plan = std::make_unique<Plan>(functions_, shape, workspace_bytes_);
  const Description& d = plan->description;
  int count = 0;
  plan->usable = d.refused().empty() &&
                 functions_.find_algorithms(handle_, d.operation(), d.a(), d.b(), d.c(), d.c(), d.preference(), 1, &plan->found, &count) == Status::success &&
                 count == 1 && plan->found.status == Status::success && plan->found.workspace_bytes <= workspace_bytes_;
  return plan;
}

Products::Plan& Products::plan_of(const Shape& shape) {
  if (const auto known = plans_.find(shape); known != plans_.end()) return *known->second;
  if (plans_.size() >= kMostPlans) plans_.clear();
  return *plans_.emplace(shape, make_plan(shape)).first->second;
}

bool Products::run(Stream& stream, Plan& plan, const void* a, const void* b, void* c, bool accumulate) const {
  if (!plan.usable) return false;
  const Description& d = plan.description;
  const float alpha = 1, beta = accumulate ? 1 : 0;
  // Our b is its first operand.
  const Status status = functions_.multiply(handle_, d.operation(), &alpha, b, d.a(), a, d.b(), &beta, c, d.c(), c, d.c(), &plan.found.algorithm, workspace_, workspace_bytes_,
                                            stream.handle());
  plan.usable = status == Status::success;
  return plan.usable;
}

template <typename Out>
bool Products::multiply(Stream& stream, GemmLayout layout, const Gemm<Bf16, Out>& g) {
  if (g.bias) return false;
  const DataType result = std::is_same_v<Out, Bf16> ? DataType::bf16 : DataType::fp32;
  return run(stream, plan_of({layout, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, result, alignment_of({g.a, g.b, g.c})}), g.a, g.b, g.c, g.accumulate);
}

template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16>&);
template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16, float>&);

}  // namespace starpo::cuda::lt
