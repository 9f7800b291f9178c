#pragma once

#include <optional>
#include <string_view>

namespace starpo {

// Instruction sets that the CPU kernels are compiled for. All give the same bits.
enum class Isa { scalar, avx2, avx512 };

const char* isa_name(Isa);
std::optional<Isa> isa_from_name(std::string_view);
bool isa_supported(Isa);

// The best supported one unless selected. Selecting is for the start of a process and for tests: no kernel may be
// running.
Isa selected_isa();
void select_isa(Isa);  // throws Error isa_unsupported
// STARPO_ISA=scalar|avx2|avx512 in the environment overrides the choice. Errors: isa_unknown, isa_unsupported.
void select_isa_from_environment();

}  // namespace starpo
