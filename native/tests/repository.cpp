#include "repository.h"

namespace starpo::test {

std::filesystem::path repository() { return STARPO_REPOSITORY; }

std::filesystem::path trainer_program() { return STARPO_TRAINER; }

std::filesystem::path fake_cublaslt(const std::string& fault) {
  return std::filesystem::path(STARPO_FAKE_CUBLASLT) / ("libfake_cublaslt_" + fault + ".so");
}

std::filesystem::path fake_nvml() { return STARPO_FAKE_NVML; }

}  // namespace starpo::test
