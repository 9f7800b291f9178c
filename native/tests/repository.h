#pragma once

#include <filesystem>
#include <string>

// Paths of this checkout. Only repository.cpp contains them, so that all other object files are the same in every
// checkout.
namespace starpo::test {

std::filesystem::path repository();

std::filesystem::path trainer_program();

// Returns a fake cuBLASLt library: "good", or a library with a fault, such as "missing_function".
std::filesystem::path fake_cublaslt(const std::string& fault);

// Returns a fake of NVML, the library of nvidia-smi.
std::filesystem::path fake_nvml();

}  // namespace starpo::test
