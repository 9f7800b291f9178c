#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace starpo {

// A named fp32 tensor for a safetensors file.
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> data;
};

// Writes a safetensors file (F32) durably: written, flushed to disk (fsync), closed. Errors: disk_full, file_unwritable.
void write_safetensors(const std::filesystem::path&, std::span<const NamedTensor>, const std::map<std::string, std::string>& metadata = {});

// Where a tensor of this name and shape is to be read to.
struct TensorDestination {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

// Reads named F32 tensors. Errors: model_file_missing, model_file_truncated, model_file_invalid (header), model_tensor_missing, model_tensor_shape,
// model_tensor_type (F32 only), model_weights_non_finite.
void read_safetensors(const std::filesystem::path&, std::span<const TensorDestination> required);

}  // namespace starpo
