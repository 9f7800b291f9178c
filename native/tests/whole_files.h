#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/folder.h"
#include "model/safetensors.h"

// Reads and writes whole files of weights, for the small models of tests. The trainer reads and writes them in parts.
namespace starpo {

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> data;
};

inline void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  std::vector<TensorName> names;
  for (const NamedTensor& tensor : tensors) names.push_back({tensor.name, tensor.shape});
  SafetensorsWriter writer(path, names);
  for (const NamedTensor& tensor : tensors) writer.write(tensor.data);
  writer.commit();
}

// The destination of a tensor with this name and shape.
struct TensorDestination {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

inline void read_safetensors(const std::filesystem::path& path, std::span<const TensorDestination> destinations) {
  SafetensorsFile file(path);
  for (const TensorDestination& each : destinations) file.check(each.name, each.shape);
  for (const TensorDestination& each : destinations) file.read(each.name, 0, each.data);
}

inline std::vector<float> read_model_folder_weights(const std::filesystem::path& folder,
                                                    const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  read_model_folder_weights(folder, layout, [&](std::size_t first, std::span<const float> values) {
    std::ranges::copy(values, weights.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return weights;
}

inline void write_model_folder(const std::filesystem::path& folder, const ParameterLayout& layout,
                               std::span<const float> weights, const std::vector<std::int32_t>& stop_ids) {
  if (weights.size() != layout.size()) throw std::invalid_argument("weights must have the layout's size");
  const auto read = [&](std::size_t first, std::span<float> values) {
    std::ranges::copy(weights.subspan(first, values.size()), values.begin());
  };
  write_model_folder(folder, layout, ReadWeights(read), stop_ids);
}

}  // namespace starpo
