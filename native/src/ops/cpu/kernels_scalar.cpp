#define STARPO_ISA scalar

// No standard library templates here: code of this instruction set must not become the one copy that the linker keeps for all.
#include "ops/cpu/kernels.h"
#include "base/reproducible_math.h"
#include "ops/cpu/vec16_scalar.h"

#include "ops/cpu/exp_kernel.h"
#include "ops/cpu/elementwise_kernels.h"
#include "ops/cpu/gemm_kernels.h"
#include "ops/cpu/attention_kernels.h"
#include "ops/cpu/loss_kernels.h"
#include "ops/cpu/norm_kernels.h"
#include "ops/cpu/optimizer_kernels.h"

#include "ops/cpu/kernel_table.h"
