#pragma once

#include <filesystem>
#include <string>

// Where this checkout lies. The paths are compiled into repository.cpp alone, so that every other object file is the
// same in every checkout.
namespace starpo::test {

std::filesystem::path repository();

std::filesystem::path trainer_program();

// Libraries in cuBLASLt's place, one for each thing that can be wrong: "good", "missing_function" and so on.
std::filesystem::path fake_cublaslt(const std::string& fault);

}  // namespace starpo::test
