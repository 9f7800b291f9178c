#pragma once

#include "model/precision.h"

namespace starpo {

// The instruction set that a model's products use on this processor: scalar, avx2 or avx512, which give the same bits; in bf16, whose bits depend on it,
// amx_bf16 or avx512_bf16.
const char* instructions_name(Precision);

}  // namespace starpo
