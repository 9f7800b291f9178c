#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace starpo {

// A named fp32 tensor for a safetensors file.
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> data;
};

// Writes a safetensors file (F32) durably: written, flushed to disk (fsync), closed. Errors: disk_full, file_unwritable.
void write_safetensors(const std::filesystem::path&, std::span<const NamedTensor>, const std::map<std::string, std::string>& metadata = {});

// Reads named F32 tensors into the given buffers. Errors: model_file_missing, model_file_truncated, model_file_invalid (header), model_tensor_missing,
// model_tensor_shape, model_tensor_type (F32 only), model_weights_non_finite. `required` holds name, expected shape and destination.
struct TensorDestination {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};
void read_safetensors(const std::filesystem::path&, std::span<const TensorDestination> required);

// A Hugging Face model folder: config.json and model.safetensors (and lm_head.weight only where embeddings are untied).
ModelConfig read_model_folder_config(const std::filesystem::path& folder);
std::vector<float> read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout&);
// Writes config.json, generation_config.json and model.safetensors; tokenizer files are copied by the caller.
void write_model_folder(const std::filesystem::path& folder, const ParameterLayout&, std::span<const float> weights, int end_of_turn_id);

}  // namespace starpo
