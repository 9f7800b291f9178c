#include "model/folder.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "files/reading.h"
#include "files/sha256.h"
#include "files/temporary_file.h"
#include "model/safetensors.h"

namespace starpo {

ModelConfig read_model_folder_config(const std::filesystem::path& folder) {
  // Libraries that support adapters would merge it into the weights, so ignoring it would train a different model.
  std::error_code ignored;
  if (std::filesystem::exists(folder / "adapter_config.json", ignored))
    throw Error("model_is_adapter", folder.string() + " contains an adapter (LoRA), which is not a complete model",
                "merge the adapter into its base model, for example with PEFT's merge_and_unload, and use the result");
  return read_model_config(folder / "config.json");
}

namespace {

using nlohmann::json;

[[noreturn]] void invalid(const std::filesystem::path& index, const std::string& what) {
  throw Error("model_index_invalid", index.string() + ": " + what,
              "download the file again; it must map every tensor to a safetensors file in the folder");
}

// Reads the shard of each tensor.
std::map<std::string, std::string> read_index(const std::filesystem::path& index) {
  constexpr std::uintmax_t largest_index = 256 << 20;
  const auto text = read_text_file(index, largest_index);
  if (!text) invalid(index, "can't be read, or is larger than 256 MiB");
  const json object = json::parse(*text, nullptr, false);
  if (!object.is_object() || !object.contains("weight_map") || !object["weight_map"].is_object())
    invalid(index, "it must be a JSON object whose weight_map is an object");
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, value] : object["weight_map"].items()) {
    if (!value.is_string()) invalid(index, "the weight_map entry of " + tensor + " is not a file name");
    const std::filesystem::path shard = value.get<std::string>();
    // Links are followed because the Hugging Face cache uses them, but names must stay inside the folder.
    if (!shard.has_filename() || shard.is_absolute() || std::find(shard.begin(), shard.end(), "..") != shard.end())
      invalid(index,
              "the weight_map entry of " + tensor + ", " + value.dump() + ", is not the name of a file in the folder");
    shards.emplace(tensor, shard.string());
  }
  return shards;
}

constexpr auto kWeightsName = "model.safetensors", kIndexName = "model.safetensors.index.json";

bool is_sharded(const std::filesystem::path& folder) {
  std::error_code ignored;
  return !std::filesystem::exists(folder / kWeightsName, ignored) &&
         std::filesystem::is_regular_file(folder / kIndexName, ignored);
}

// Returns the path of a shard. Errors: model_shard_missing.
std::filesystem::path find_shard(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path shard = folder / name;
  std::error_code ignored;
  if (!std::filesystem::exists(shard, ignored))
    throw Error("model_shard_missing", shard.string() + ", listed in " + kIndexName + ", was not found",
                "download the whole model folder again");
  return shard;
}

// The files that contain a model's tensors. Every header has been checked against the layout.
class WeightFiles {
 public:
  WeightFiles(const std::filesystem::path& folder, const ParameterLayout& layout) : sharded_(is_sharded(folder)) {
    const auto index = folder / kIndexName;
    if (sharded_) shards_ = read_index(index);
    for (const TensorSlot& tensor : layout.tensors()) {
      if (!sharded_) shards_.emplace(tensor.name, kWeightsName);
      const auto found = shards_.find(tensor.name);
      if (found == shards_.end())
        throw Error("model_tensor_missing", index.string() + ": " + tensor.name + " is missing",
                    "use weights that match the folder's config.json");
      if (!files_.contains(found->second))
        files_.try_emplace(found->second, sharded_ ? find_shard(folder, found->second) : folder / found->second);
      file_of(tensor.name).check(tensor.name, tensor.shape);
    }
    for (const auto& [name, file] : files_)
      for (const std::string& tensor : file.tensor_names()) check_unread(folder, layout, tensor, name);
    // The index may name further shards.
    for (const auto& [tensor, shard] : shards_) check_unread(folder, layout, tensor, shard);
  }

  void read(const ParameterLayout& layout, const WriteWeights& to) {
    for (const TensorSlot& tensor : layout.tensors()) {
      SafetensorsFile& file = file_of(tensor.name);
      copy_in_chunks(
          tensor.offset, tensor.size,
          [&](std::size_t first, std::span<float> values) { file.read(tensor.name, first - tensor.offset, values); },
          to);
    }
  }

 private:
  SafetensorsFile& file_of(const std::string& tensor) { return files_.at(shards_.at(tensor)); }

  // Refuses a tensor that the layout doesn't read, because the model would compute different results without it.
  void check_unread(const std::filesystem::path& folder, const ParameterLayout& layout, const std::string& tensor,
                    const std::string& file) {
    const auto& tensors = layout.tensors();
    if (std::ranges::find(tensors, tensor, &TensorSlot::name) != tensors.end()) return;
    if (tensor.ends_with(".rotary_emb.inv_freq")) return;  // a buffer that follows from config.json
    if (tensor == kHead) return check_tied_head(folder, layout.find(kEmbedding), file);
    throw Error("model_tensor_unknown", (folder / file).string() + ": the model of config.json has no tensor " + tensor,
                "use weights that match config.json, without adapters or additional heads");
  }

  // Tied embeddings have no head of their own, but some tools save the same weights twice.
  void check_tied_head(const std::filesystem::path& folder, const TensorSlot& embedding, const std::string& file) {
    const auto differs = [&] {
      return Error("model_tied_head_differs",
                   folder.string() + ": config.json has tie_word_embeddings true, but " + std::string(kHead) +
                       " differs from " + kEmbedding,
                   "set tie_word_embeddings to false in config.json to use the head, or remove it from the weights");
    };
    SafetensorsFile head(sharded_ ? find_shard(folder, file) : folder / file);
    try {
      head.check(kHead, embedding.shape);
    } catch (const Error& error) {
      if (error.code() == "model_tensor_shape") throw differs();
      throw;
    }
    std::vector<float> own;
    copy_in_chunks(
        0, embedding.size,
        [&](std::size_t first, std::span<float> values) { file_of(kEmbedding).read(kEmbedding, first, values); },
        [&](std::size_t first, std::span<const float> values) {
          own.resize(values.size());
          head.read(kHead, first, own);
          if (!std::ranges::equal(own, values)) throw differs();
        });
  }

  static constexpr auto kHead = "lm_head.weight", kEmbedding = "model.embed_tokens.weight";

  bool sharded_;
  std::map<std::string, std::string> shards_;  // file by tensor
  std::map<std::string, SafetensorsFile> files_;
};

}  // namespace

void check_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout& layout) {
  WeightFiles(folder, layout);
}

void read_model_folder_weights(const std::filesystem::path& folder, const ParameterLayout& layout,
                               const WriteWeights& to) {
  WeightFiles(folder, layout).read(layout, to);
}

std::string model_folder_digest(const std::filesystem::path& folder) {
  if (!is_sharded(folder)) return sha256_of_file(folder / kWeightsName);
  std::set<std::string> names;
  for (const auto& [tensor, shard] : read_index(folder / kIndexName)) names.insert(shard);
  std::string lines;
  for (const std::string& name : names) lines += sha256_of_file(find_shard(folder, name)) + "  " + name + "\n";
  return sha256(lines);
}

void write_model_folder(const std::filesystem::path& folder, const ParameterLayout& layout, const ReadWeights& weights,
                        const std::vector<std::int32_t>& stop_ids) {
  write_model_config(layout.config(), folder / "config.json");
  using Json = nlohmann::ordered_json;
  const Json generation = {{"do_sample", true},
                           {"eos_token_id", stop_ids.size() == 1 ? Json(stop_ids.front()) : Json(stop_ids)},
                           {"pad_token_id", stop_ids.at(0)}};
  write_file_atomically(folder / "generation_config.json", generation.dump(2) + "\n");
  std::vector<TensorName> names;
  for (const TensorSlot& tensor : layout.tensors()) names.push_back({tensor.name, tensor.shape});
  SafetensorsWriter writer(folder / kWeightsName, names, {{"format", "pt"}});
  copy_in_chunks(0, layout.size(), weights, [&](std::size_t, std::span<const float> values) { writer.write(values); });
  writer.commit();
}

}  // namespace starpo
