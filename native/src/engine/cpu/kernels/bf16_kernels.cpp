#include "engine/cpu/kernels/bf16_kernels.h"

#include "engine/cpu/kernels/isa.h"

namespace starpo {

const Bf16Kernels* bf16_kernels() {
  if (selected_isa() != Isa::avx512) return nullptr;
  if (amx::supported()) return &amx::kernels();
  return avx512bf16::supported() ? &avx512bf16::kernels() : nullptr;
}

const char* bf16_kernels_name() {
  const Bf16Kernels* const selected = bf16_kernels();
  return selected == nullptr ? "none" : selected == &amx::kernels() ? "amx_bf16" : "avx512_bf16";
}

}  // namespace starpo
