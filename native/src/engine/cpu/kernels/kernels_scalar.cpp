#define STARPO_ISA scalar

// No standard library templates here: code of this instruction set must not become the one copy that the linker keeps
// for all.
#include "base/reproducible_math.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/vec16_scalar.h"

// After the vectors, which it is written in.
#include "engine/cpu/kernels/kernel_table.h"
