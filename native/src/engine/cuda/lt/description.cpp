#include "engine/cuda/lt/description.h"

namespace starpo::cuda::lt {

// Row-major c = a b is column-major c^T = b^T a^T, and a row-major matrix read as column-major is its transpose: so our b is the library's first
// operand, our a its second, and one is transposed where our layout doesn't transpose it.
Description::Description(const Functions& functions, const Shape& s, std::size_t workspace_bytes) : f_(functions) {
  const bool first_transposed = s.layout == GemmLayout::nt, second_transposed = s.layout == GemmLayout::tn;
  const auto layout = [&](const char* name, Descriptor& descriptor, DataType type, int rows, int columns, int ld) {
    return taken(name, f_.create_layout(&descriptor, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), ld));
  };
  const auto set = [&](const char* name, OperationAttribute attribute, Operation value) {
    return taken(name, f_.set_operation(operation_, attribute, &value, sizeof value));
  };
  const auto prefer = [&](const char* name, PreferenceAttribute attribute, const auto& value) {
    return taken(name, f_.set_preference(preference_, attribute, &value, sizeof value));
  };
  // Stops at what isn't taken.
  (void)(taken("operation", f_.create_operation(&operation_, ComputeType::fp32, DataType::fp32)) &&
         set("transpose_a", OperationAttribute::transpose_a, first_transposed ? Operation::transpose : Operation::none) &&
         set("transpose_b", OperationAttribute::transpose_b, second_transposed ? Operation::transpose : Operation::none) &&
         layout("layout a", a_, DataType::bf16, first_transposed ? s.k : s.n, first_transposed ? s.n : s.k, s.ldb) &&
         layout("layout b", b_, DataType::bf16, second_transposed ? s.m : s.k, second_transposed ? s.k : s.m, s.lda) &&
         layout("layout c", c_, s.result, s.n, s.m, s.ldc) && taken("preference", f_.create_preference(&preference_)) &&
         prefer("workspace_bytes", PreferenceAttribute::workspace_bytes, static_cast<std::uint64_t>(workspace_bytes)) &&
         prefer("reduction_schemes", PreferenceAttribute::reduction_schemes, kReductionInComputeType) &&
         prefer("alignment_a", PreferenceAttribute::alignment_a, s.alignment) && prefer("alignment_b", PreferenceAttribute::alignment_b, s.alignment) &&
         prefer("alignment_c", PreferenceAttribute::alignment_c, s.alignment) && prefer("alignment_d", PreferenceAttribute::alignment_d, s.alignment));
}

Description::~Description() {
  if (operation_) f_.destroy_operation(operation_);
  for (const Descriptor layout : {a_, b_, c_})
    if (layout) f_.destroy_layout(layout);
  if (preference_) f_.destroy_preference(preference_);
}

bool Description::taken(const char* what, Status status) {
  if (status == Status::success) return true;
  refused_ = what + (" (status " + std::to_string(static_cast<int>(status)) + ")");
  return false;
}

}  // namespace starpo::cuda::lt
