#include "engine/cuda/lt/products.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace starpo::cuda::lt {
namespace {

constexpr std::size_t kMaxPlans = 4096;  // micro-batches have many lengths; a plan takes a few hundred bytes
constexpr std::uintptr_t kBestAlignment = 256;
constexpr int kMaxCandidates = 8;  // algorithms per shape; a failure, such as a missing libnvrtc, may concern only some

std::uint32_t alignment_of(std::initializer_list<const void*> pointers) {
  std::uintptr_t bits = kBestAlignment;
  for (const void* const pointer : pointers) bits |= reinterpret_cast<std::uintptr_t>(pointer);
  return static_cast<std::uint32_t>(bits & -bits);
}

}  // namespace

// Row-major c = a b is column-major c^T = b^T a^T, and a row-major matrix read as column-major is its transpose. So our
// b is the library's first operand and our a its second, and each is transposed if our layout transposes it.
Description::Description(const Functions& functions, const Shape& s, std::size_t workspace_bytes) : f_(functions) {
  const bool first_transposed = s.layout == GemmLayout::nt, second_transposed = s.layout == GemmLayout::tn;
  const auto layout = [&](const char* name, Descriptor& descriptor, DataType type, int rows, int columns, int ld) {
    return accept(name, f_.create_layout(&descriptor, type, static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), ld));
  };
  const auto set = [&](const char* name, OperationAttribute attribute, Operation value) {
    return accept(name, f_.set_operation(operation_, attribute, &value, sizeof value));
  };
  const auto prefer = [&](const char* name, PreferenceAttribute attribute, const auto& value) {
    return accept(name, f_.set_preference(preference_, attribute, &value, sizeof value));
  };
  // Stops at the first attribute that the library rejects.
  (void)(accept("operation", f_.create_operation(&operation_, ComputeType::fp32, DataType::fp32)) &&
         set("transpose_a", OperationAttribute::transpose_a,
             first_transposed ? Operation::transpose : Operation::none) &&
         set("transpose_b", OperationAttribute::transpose_b,
             second_transposed ? Operation::transpose : Operation::none) &&
         layout("layout a", a_, DataType::bf16, first_transposed ? s.k : s.n, first_transposed ? s.n : s.k, s.ldb) &&
         layout("layout b", b_, DataType::bf16, second_transposed ? s.m : s.k, second_transposed ? s.k : s.m, s.lda) &&
         layout("layout c", c_, s.result, s.n, s.m, s.ldc) &&
         accept("preference", f_.create_preference(&preference_)) &&
         prefer("workspace_bytes", PreferenceAttribute::workspace_bytes, static_cast<std::uint64_t>(workspace_bytes)) &&
         prefer("reduction_schemes", PreferenceAttribute::reduction_schemes, kReductionInComputeType) &&
         prefer("alignment_a", PreferenceAttribute::alignment_a, s.alignment) &&
         prefer("alignment_b", PreferenceAttribute::alignment_b, s.alignment) &&
         prefer("alignment_c", PreferenceAttribute::alignment_c, s.alignment) &&
         prefer("alignment_d", PreferenceAttribute::alignment_d, s.alignment));
}

Description::~Description() {
  if (operation_) f_.destroy_operation(operation_);
  for (const Descriptor layout : {a_, b_, c_})
    if (layout) f_.destroy_layout(layout);
  if (preference_) f_.destroy_preference(preference_);
}

bool Description::accept(const char* what, Status status) {
  if (status == Status::success) return true;
  rejected_ = what + (" (status " + std::to_string(static_cast<int>(status)) + ")");
  return false;
}

// The descriptors of a shape and the algorithms that cuBLASLt suggests.
struct Products::Plan {
  Plan(const Functions& functions, const Shape& shape, std::size_t workspace_bytes)
      : description(functions, shape, workspace_bytes) {}

  const Description description;
  std::vector<Heuristic> candidates;  // best first; one that fails is removed
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
  if (!d.rejected().empty()) return plan;
  int count = 0;
  plan->candidates.resize(kMaxCandidates);
  if (functions_.find_algorithms(handle_, d.operation(), d.a(), d.b(), d.c(), d.c(), d.preference(), kMaxCandidates,
                                 plan->candidates.data(), &count) != Status::success)
    count = 0;
  plan->candidates.resize(static_cast<std::size_t>(count));
  std::erase_if(plan->candidates, [&](const Heuristic& found) {
    return found.status != Status::success || found.workspace_bytes > workspace_bytes_;
  });
  return plan;
}

Products::Plan& Products::plan_of(const Shape& shape) {
  if (const auto cached = plans_.find(shape); cached != plans_.end()) return *cached->second;
  if (plans_.size() >= kMaxPlans) plans_.clear();
  return *plans_.emplace(shape, make_plan(shape)).first->second;
}

bool Products::run(Stream& stream, Plan& plan, const void* a, const void* b, void* c, bool accumulate) const {
  if (plan.candidates.empty()) return false;
  const Description& d = plan.description;
  const float alpha = 1, beta = accumulate ? 1 : 0;
  // Our b is its first operand.
  for (; !plan.candidates.empty(); plan.candidates.erase(plan.candidates.begin()))
    if (functions_.multiply(handle_, d.operation(), &alpha, b, d.a(), a, d.b(), &beta, c, d.c(), c, d.c(),
                            &plan.candidates.front().algorithm, workspace_, workspace_bytes_,
                            stream.handle()) == Status::success)
      return true;
  return false;
}

template <typename Out>
bool Products::multiply(Stream& stream, GemmLayout layout, const Gemm<Bf16, Out>& g) {
  if (g.bias) return false;
  const DataType result = std::is_same_v<Out, Bf16> ? DataType::bf16 : DataType::fp32;
  return run(stream, plan_of({layout, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, result, alignment_of({g.a, g.b, g.c})}), g.a,
             g.b, g.c, g.accumulate);
}

template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16>&);
template bool Products::multiply(Stream&, GemmLayout, const Gemm<Bf16, float>&);

}  // namespace starpo::cuda::lt
