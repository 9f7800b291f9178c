#pragma once

namespace starpo::cuda::emulated {

// See portable/tensor_core.h.
void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
void load_matrices(const char* operation, unsigned (&registers)[4], const void* row, bool transposed);

}  // namespace starpo::cuda::emulated
