#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace starpo {

// Reads the config of a Hugging Face model folder: config.json, and F32, BF16 or F16 weights in model.safetensors or in
// the shards listed in model.safetensors.index.json. With tied embeddings, lm_head.weight may be missing. Throws
// model_is_adapter, and the errors of read_model_config.
ModelConfig read_model_folder_config(const std::filesystem::path& folder);

// Checks every header without reading weights, except a head beside tied embeddings. Throws the errors of
// read_model_folder_weights that this reveals.
void check_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&);

// Reads the weights in chunks, in the layout's order. Checks every header before reading the first weight. Throws
// the errors of SafetensorsFile, model_index_invalid (the index, or a shard outside the folder), model_shard_missing,
// model_tensor_unknown, model_tied_head_differs.
void read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&, const WriteWeights& to);

// Returns a digest of the weights as 64 hex digits: the SHA-256 of model.safetensors. For shards, the SHA-256 of
// the lines "<SHA-256 of the file>  <name>\n", one per file in the index, sorted by name. Errors: model_index_invalid,
// model_shard_missing, file_unreadable.
std::string model_folder_digest(const std::filesystem::path& folder);

// Writes config.json, generation_config.json and model.safetensors, with the weights in chunks. The caller copies the
// tokenizer files. stop_ids: token ids that end a generated text, at least one.
void write_model_folder(const std::filesystem::path& folder, const ParameterLayout&, const ReadWeights& weights,
                        const std::vector<std::int32_t>& stop_ids);

}  // namespace starpo
