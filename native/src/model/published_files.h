#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace starpo {

// What a model folder holds beside its weights, by name: config.json (naming float32, as which weights are written),
// generation_config.json and the tokenizer's files. Each checkpoint gets them, so that it loads wherever the folder
// does. A file that isn't there is left out. Errors: model_config_invalid (config.json is no JSON object).
std::map<std::string, std::string> read_published_files(const std::filesystem::path& folder);

// The ids that end a generated text: eos_token_id of generation_config.json, or else of config.json; a number, a list,
// or none. Nothing else of generation_config.json is used: how to sample is what a run's configuration says. Errors:
// model_config_invalid.
std::vector<std::int32_t> read_stop_ids(const std::filesystem::path& folder);

}  // namespace starpo
