#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace starpo {

// Reads the files of a model folder other than its weights, by name: config.json (with dtype float32, the type of
// written weights), generation_config.json and the tokenizer files. Each checkpoint gets a copy, so that it loads like
// the original folder. Missing files are omitted. Errors: model_config_invalid (config.json is not a JSON object).
std::map<std::string, std::string> read_published_files(const std::filesystem::path& folder);

// Reads the token ids that end a generated text: eos_token_id (a number or a list) of generation_config.json, else of
// config.json. Empty if neither has it. Sampling settings of generation_config.json are ignored. Errors:
// model_config_invalid.
std::vector<std::int32_t> read_stop_ids(const std::filesystem::path& folder);

}  // namespace starpo
