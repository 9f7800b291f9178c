#include "model/folder.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "files/temporary_file.h"
#include "model/safetensors.h"

namespace starpo {

ModelConfig read_model_folder_config(const std::filesystem::path& folder) { return read_model_config(folder / "config.json"); }

std::vector<float> read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  std::vector<TensorDestination> tensors;
  for (const TensorSlot& tensor : layout.tensors())
    tensors.push_back({tensor.name, tensor.shape, std::span(weights).subspan(tensor.offset, tensor.size)});
  read_safetensors(folder / "model.safetensors", tensors);
  return weights;
}

void write_model_folder(const std::filesystem::path& folder, const ParameterLayout& layout, std::span<const float> weights, int end_of_turn_id) {
  if (weights.size() != layout.size()) throw std::invalid_argument("weights must have the layout's size");
  write_model_config(layout.config(), folder / "config.json");
  const nlohmann::ordered_json generation = {{"do_sample", true}, {"eos_token_id", end_of_turn_id}, {"pad_token_id", end_of_turn_id}};
  write_file_atomically(folder / "generation_config.json", generation.dump(2) + "\n");
  std::vector<NamedTensor> tensors;
  for (const TensorSlot& tensor : layout.tensors()) tensors.push_back({tensor.name, tensor.shape, weights.subspan(tensor.offset, tensor.size)});
  write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
}

}  // namespace starpo
