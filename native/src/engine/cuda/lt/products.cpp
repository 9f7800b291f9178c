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

// What cuBLASLt is told of a shape, and the algorithm it named.
struct Products::Plan {
  explicit Plan(const Functions& functions) : f(functions) {}
  ~Plan() {
    if (operation) f.destroy_operation(operation);
    for (const Descriptor layout : {a, b, c})
      if (layout) f.destroy_layout(layout);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <class Attribute, class Value>
  bool set(Status (*setter)(Descriptor, Attribute, const void*, std::size_t), Descriptor descriptor, Attribute attribute, const Value& value) const {
    return setter(descriptor, attribute, &value, sizeof value) == Status::success;
  }

  const Functions& f;
  Descriptor operation = nullptr, a = nullptr, b = nullptr, c = nullptr;
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

// Row-major c = a b is column-major c^T = b^T a^T, and a row-major matrix read as column-major is its transpose: so our b is the library's first
// operand, our a its second, and one is transposed where our layout doesn't transpose it.
std::unique_ptr<Products::Plan> Products::make_plan(const Shape& s) const {
  auto plan = std::make_unique<Plan>(functions_);
  const bool first_transposed = s.layout == GemmLayout::nt, second_transposed = s.layout == GemmLayout::tn;
  const auto layout = [&](Descriptor& descriptor, DataType type, int rows, int columns, int ld) {
    return functions_.create_layout(&descriptor, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), ld) == Status::success;
  };
  const auto set = [&](OperationAttribute attribute, const auto& value) { return plan->set(functions_.set_operation, plan->operation, attribute, value); };
  const bool described = functions_.create_operation(&plan->operation, ComputeType::fp32, DataType::fp32) == Status::success &&
                         set(OperationAttribute::transpose_a, first_transposed ? Operation::transpose : Operation::none) &&
                         set(OperationAttribute::transpose_b, second_transposed ? Operation::transpose : Operation::none) &&
                         set(OperationAttribute::epilogue, s.bias ? Epilogue::bias : Epilogue::none) &&
                         (!s.bias || set(OperationAttribute::bias_type, DataType::fp32)) &&
                         layout(plan->a, DataType::bf16, first_transposed ? s.k : s.n, first_transposed ? s.n : s.k, s.ldb) &&
                         layout(plan->b, DataType::bf16, second_transposed ? s.m : s.k, second_transposed ? s.k : s.m, s.lda) &&
                         layout(plan->c, s.result, s.n, s.m, s.ldc);
  Descriptor preference = nullptr;
  if (!described || functions_.create_preference(&preference) != Status::success) return plan;
  const auto prefer = [&](PreferenceAttribute attribute, const auto& value) { return plan->set(functions_.set_preference, preference, attribute, value); };
  int count = 0;
  plan->usable = prefer(PreferenceAttribute::workspace_bytes, static_cast<std::uint64_t>(workspace_bytes_)) &&
                 prefer(PreferenceAttribute::reduction_schemes, kReductionInComputeType) && prefer(PreferenceAttribute::alignment_a, s.alignment) &&
                 prefer(PreferenceAttribute::alignment_b, s.alignment) && prefer(PreferenceAttribute::alignment_c, s.alignment) &&
                 prefer(PreferenceAttribute::alignment_d, s.alignment) &&
                 functions_.find_algorithms(handle_, plan->operation, plan->a, plan->b, plan->c, plan->c, preference, 1, &plan->found, &count) == Status::success &&
                 count == 1 && plan->found.status == Status::success && plan->found.workspace_bytes <= workspace_bytes_;
  functions_.destroy_preference(preference);
  return plan;
}

Products::Plan& Products::plan_of(const Shape& shape) {
  if (const auto known = plans_.find(shape); known != plans_.end()) return *known->second;
  if (plans_.size() >= kMostPlans) plans_.clear();
  return *plans_.emplace(shape, make_plan(shape)).first->second;
}

bool Products::run(Stream& stream, Plan& plan, const void* a, const void* b, void* c, const float* bias, bool accumulate) const {
  if (!plan.usable) return false;
  if (bias && !plan.set(functions_.set_operation, plan.operation, OperationAttribute::bias_pointer, bias)) return false;
  const float alpha = 1, beta = accumulate ? 1 : 0;
  const Status status = functions_.multiply(handle_, plan.operation, &alpha, b, plan.a, a, plan.b, &beta, c, plan.c, c, plan.c, &plan.found.algorithm, workspace_,
                                            workspace_bytes_, stream.handle());
  plan.usable = status == Status::success;
  return plan.usable;
}

template <typename Out>
bool Products::multiply(Stream& stream, GemmLayout layout, const Gemm<Bf16, Out>& g) {
  constexpr bool bf16 = std::is_same_v<Out, Bf16>;
  // It adds only biases of the result's type to a result in bf16.
  if (bf16 && g.bias) return false;
  Plan& plan = plan_of({layout, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, bf16 ? DataType::bf16 : DataType::fp32, g.bias != nullptr, alignment_of({g.a, g.b, g.c})});
  return run(stream, plan, g.a, g.b, g.c, g.bias, g.accumulate);
}

template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16>&);
template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16, float>&);

}  // namespace starpo::cuda::lt
