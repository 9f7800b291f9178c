#include "model/folder.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "files/temporary_file.h"
#include "model/safetensors.h"

namespace starpo {

ModelConfig read_model_folder_config(const std::filesystem::path& folder) { return read_model_config(folder / "config.json"); }

namespace {

using nlohmann::json;

[[noreturn]] void invalid(const std::filesystem::path& index, const std::string& what) {
  throw Error("model_index_invalid", index.string() + ": " + what, "download the file again; it maps every tensor's name to a safetensors file of the folder");
}

// Which shard of the folder holds each tensor.
std::map<std::string, std::string> read_index(const std::filesystem::path& index) {
  std::ifstream file(index, std::ios::binary);
  const json object = json::parse(file, nullptr, false);
  if (!object.is_object() || !object.contains("weight_map") || !object["weight_map"].is_object()) invalid(index, "there is no weight_map");
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, value] : object["weight_map"].items()) {
    if (!value.is_string()) invalid(index, "weight_map names no file for " + tensor);
    const std::filesystem::path shard = value.get<std::string>();
    // Links are followed, since a download cache lays its folders out with them; names must stay inside.
    if (!shard.has_filename() || shard.is_absolute() || std::find(shard.begin(), shard.end(), "..") != shard.end())
      invalid(index, "weight_map's file for " + tensor + ", " + value.dump() + ", is not inside the folder");
    shards.emplace(tensor, shard.string());
  }
  return shards;
}

void read_shards(const std::filesystem::path& folder, const std::filesystem::path& index, const std::vector<TensorDestination>& tensors) {
  const auto shards = read_index(index);
  std::map<std::string, SafetensorsFile> files;
  const auto file_of = [&](const TensorDestination& tensor) -> SafetensorsFile& { return files.at(shards.at(tensor.name)); };
  for (const TensorDestination& tensor : tensors) {
    const auto found = shards.find(tensor.name);
    if (found == shards.end())
      throw Error("model_tensor_missing", index.string() + ": " + tensor.name + " is missing", "use weights that belong to the folder's config.json");
    const std::filesystem::path shard = folder / found->second;
    std::error_code ignored;
    if (!std::filesystem::exists(shard, ignored))
      throw Error("model_shard_missing", shard.string() + " is missing, which " + index.filename().string() + " names", "download the whole model folder again");
    files.try_emplace(found->second, shard);
    file_of(tensor).check(tensor);
  }
  for (const TensorDestination& tensor : tensors) file_of(tensor).read(tensor);
}

void read_weights(const std::filesystem::path& folder, const ParameterLayout& layout, std::span<float> weights) {
  std::vector<TensorDestination> tensors;
  for (const TensorSlot& tensor : layout.tensors()) tensors.push_back({tensor.name, tensor.shape, weights.subspan(tensor.offset, tensor.size)});
  const std::filesystem::path whole = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  if (!std::filesystem::exists(whole, ignored) && std::filesystem::is_regular_file(index, ignored)) read_shards(folder, index, tensors);
  else read_safetensors(whole, tensors);
}

}  // namespace

std::vector<float> read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  read_weights(folder, layout, weights);
  return weights;
}

void load_model_folder_weights(const std::filesystem::path& folder, Model& model) {
  read_weights(folder, model.layout(), model.mutable_weights());
  model.weights_changed();
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
