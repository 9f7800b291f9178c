#pragma once

#include <optional>
#include <string_view>

namespace starpo {

// Instruction sets that the CPU kernels are compiled for. Their results are bit-identical.
enum class Isa { scalar, avx2, avx512 };

const char* isa_name(Isa);
std::optional<Isa> isa_from_name(std::string_view);
bool isa_supported(Isa);

// Get or set the instruction set. The default is the best supported one. Select only while no kernel is running: at the
// start of a process, and in tests. Errors: isa_unsupported.
Isa selected_isa();
void select_isa(Isa);
// Selects the instruction set in the environment variable STARPO_ISA (scalar, avx2 or avx512), if it is set. Errors:
// isa_unknown, isa_unsupported.
void select_isa_from_environment();

}  // namespace starpo
