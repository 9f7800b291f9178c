#define STARPO_ISA avx512

// Use no standard library templates in this file: the linker could use their copies, in this instruction set, for the
// whole program.
#include "base/reproducible_math.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/vec16_avx512.h"

// The kernels use the vectors above.
#include "engine/cpu/kernels/kernel_table.h"
