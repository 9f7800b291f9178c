#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "model/parameters.h"

namespace starpo {

// A Hugging Face model folder: config.json and model.safetensors (and lm_head.weight only where embeddings are untied).
ModelConfig read_model_folder_config(const std::filesystem::path& folder);
std::vector<float> read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&);
// Writes config.json, generation_config.json and model.safetensors; tokenizer files are copied by the caller.
void write_model_folder(const std::filesystem::path& folder, const ParameterLayout&, std::span<const float> weights, int end_of_turn_id);

}  // namespace starpo
