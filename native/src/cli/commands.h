#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/engine.h"

// The trainer's commands that don't train. Each prints to stdout and returns the exit status; Errors are for the caller to print.
namespace starpo {

int validate_command(const std::filesystem::path& run_json, bool json);
int schema_command();
int status_command(const std::filesystem::path& run_directory, bool json);
int score_command(const std::filesystem::path& model_folder, const EngineSettings&);
int tokenize_command(const std::filesystem::path& model_folder);
int env_command(const std::string& type, const std::string& config_json, std::optional<std::uint32_t> noise_seed);

}  // namespace starpo
