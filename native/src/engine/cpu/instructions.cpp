#include "engine/cpu/instructions.h"

#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/isa.h"

namespace starpo {

const char* instructions_name(Precision precision) { return precision == Precision::bf16 ? bf16_kernels_name() : isa_name(selected_isa()); }

}  // namespace starpo
