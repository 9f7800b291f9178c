#include <cstddef>
#include <cstdint>

#include "targets.h"

// libFuzzer's entry point for one target, STARPO_FUZZ_TARGET.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  starpo::fuzz::STARPO_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
