#include "model/published_files.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "files/reading.h"
#include "files/shallow_json.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMaxFileBytes = 256 << 20;
constexpr std::array kNames{"config.json",
                            "generation_config.json",
                            "tokenizer.json",
                            "tokenizer_config.json",
                            "special_tokens_map.json",
                            "added_tokens.json",
                            "vocab.json",
                            "merges.txt",
                            "chat_template.jinja"};

[[noreturn]] void invalid_file(const std::filesystem::path& path, const std::string& what) {
  throw Error("model_config_invalid", path.string() + ": " + what, "download the file again from the model's source");
}

Json parse_object(const std::filesystem::path& path, const std::string& text) {
  auto object = parse_shallow_json<Json>(text);
  if (!object.is_object()) invalid_file(path, "not a JSON object, or nested too deeply");
  return object;
}

std::string with_float32(const std::filesystem::path& path, const std::string& text) {
  Json config = parse_object(path, text);
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = "float32";
  return config.dump(2) + "\n";
}

std::int32_t stop_id(const std::filesystem::path& path, const Json& id) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max())
    invalid_file(path, "eos_token_id must be a token id or a list of token ids");
  return id.get<std::int32_t>();
}

}  // namespace

std::map<std::string, std::string> read_published_files(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const std::string name : kNames)
    if (auto content = read_text_file(folder / name, kMaxFileBytes))
      files[name] = name == "config.json" ? with_float32(folder / name, *content) : std::move(*content);
  return files;
}

std::vector<std::int32_t> read_stop_ids(const std::filesystem::path& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    const auto text = read_text_file(folder / name, kMaxFileBytes);
    if (!text) continue;
    const Json object = parse_object(folder / name, *text);
    const auto found = object.find("eos_token_id");
    if (found == object.end() || found->is_null()) continue;
    std::vector<std::int32_t> ids;
    for (const Json& id : found->is_array() ? *found : Json::array({*found})) ids.push_back(stop_id(folder / name, id));
    return ids;
  }
  return {};
}

}  // namespace starpo
