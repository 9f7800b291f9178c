#include "engine/cpu/kernels/isa.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {
namespace {

Isa best_isa() {
  if (isa_supported(Isa::avx512)) return Isa::avx512;
  return isa_supported(Isa::avx2) ? Isa::avx2 : Isa::scalar;
}

Isa& current() {
  static Isa isa = best_isa();
  return isa;
}

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::scalar: return "scalar";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "";
}

std::optional<Isa> isa_from_name(std::string_view name) {
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512})
    if (name == isa_name(isa)) return isa;
  return std::nullopt;
}

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::scalar: return true;
    case Isa::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
  }
  return false;
}

Isa selected_isa() { return current(); }

void select_isa(Isa isa) {
  if (!isa_supported(isa))
    throw Error("isa_unsupported", std::string("this CPU does not support ") + isa_name(isa),
                std::string("unset STARPO_ISA to use ") + isa_name(best_isa()));
  current() = isa;
}

void select_isa_from_environment() {
  const char* name = std::getenv("STARPO_ISA");
  if (!name) return;
  const auto isa = isa_from_name(name);
  if (!isa)
    throw Error("isa_unknown",
                std::string("STARPO_ISA is \"") + name + "\", which is not an instruction set of the trainer",
                "set it to scalar, avx2 or avx512, or unset it");
  select_isa(*isa);
}

const Kernels& kernels() {
  switch (current()) {
    case Isa::avx512: return avx512::kernels();
    case Isa::avx2: return avx2::kernels();
    case Isa::scalar: break;
  }
  return scalar::kernels();
}

}  // namespace starpo
