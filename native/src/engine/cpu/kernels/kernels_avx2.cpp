#define STARPO_ISA avx2

// No standard library templates here: code of this instruction set must not become the one copy that the linker keeps
// for all.
#include "base/reproducible_math.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/vec16_avx2.h"

#include "engine/cpu/kernels/attention_kernels.h"
#include "engine/cpu/kernels/elementwise_kernels.h"
#include "engine/cpu/kernels/exp_kernel.h"
#include "engine/cpu/kernels/gemm_kernels.h"
#include "engine/cpu/kernels/loss_kernels.h"
#include "engine/cpu/kernels/norm_kernels.h"
#include "engine/cpu/kernels/optimizer_kernels.h"

#include "engine/cpu/kernels/kernel_table.h"
