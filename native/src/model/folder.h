#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace starpo {

// A Hugging Face model folder as published: config.json, and F32, BF16 or F16 weights in model.safetensors, or else in
// the shards that model.safetensors.index.json names. lm_head.weight is read only where embeddings are untied.
ModelConfig read_model_folder_config(const std::filesystem::path& folder);

// Checks every header and reads no weight. Errors: those of read_model_folder_weights, but for what only reading tells.
void check_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&);

// The weights in the layout's order, in pieces. Every header is checked before the first weight is read. Errors: those
// of SafetensorsFile, model_index_invalid (the index, or a shard outside the folder), model_shard_missing.
void read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&, const WriteWeights& to);

// A digest of the weights, as 64 hex digits: SHA-256 of model.safetensors; of shards that of lines "<SHA-256 of the
// file>  <its name>\n", one for each file that the index names, in the order of the names' bytes. Errors:
// model_index_invalid, model_shard_missing, file_unreadable.
std::string model_folder_digest(const std::filesystem::path& folder);

// Writes config.json, generation_config.json and model.safetensors, the weights in pieces; tokenizer files are copied
// by the caller. stop_ids: end a generated text, one at least.
void write_model_folder(const std::filesystem::path& folder, const ParameterLayout&, const ReadWeights& weights,
                        const std::vector<std::int32_t>& stop_ids);

}  // namespace starpo
