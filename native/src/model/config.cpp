#include "model/config.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "files/reading.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

using nlohmann::json;

// Twelve tensors per layer are listed before the weights are read.
constexpr std::int64_t kMaxLayers = 1024;

[[noreturn]] void invalid_config(const std::filesystem::path& path, const std::string& what) {
  throw Error("model_config_invalid", path.string() + ": " + what,
              "use the config.json that transformers writes for a Qwen2 model");
}

[[noreturn]] void unsupported(const std::filesystem::path& path, const std::string& what) {
  throw Error(
      "model_unsupported", path.string() + ": " + what,
      "use a Qwen2 model with full attention, SiLU and unscaled rotary embeddings, such as Qwen2.5-0.5B-Instruct");
}

std::string display_text(const json& value) {
  return value.is_structured() ? "an " + std::string(value.type_name()) : value.dump(-1, ' ', true);
}

class ConfigReader {
 public:
  ConfigReader(const json& object, const std::filesystem::path& path) : object_(object), path_(path) {}

  int integer(const char* key, std::int64_t largest = 1 << 24) const {
    const json* const value = find(key);
    if (value == nullptr) invalid_config(path_, std::string(key) + " is missing");
    if (!value->is_number_integer() || *value < 1 || *value > largest)
      invalid_config(path_, std::string(key) + " must be an integer from 1 to " + std::to_string(largest));
    return value->get<int>();
  }

  float number(const json& object, const char* key) const {
    const auto at = object.find(key);
    if (at == object.end()) invalid_config(path_, std::string(key) + " is missing");
    if (!at->is_number() || !(at->get<double>() > 0) || !std::isfinite(at->get<float>()))
      invalid_config(path_, std::string(key) + " must be a positive number in the range of float32");
    return at->get<float>();
  }

  bool flag(const char* key, bool fallback) const {
    const json* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) invalid_config(path_, std::string(key) + " must be true or false");
    return value->get<bool>();
  }

  // Null counts as absent, as transformers writes it.
  const json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

 private:
  const json& object_;
  const std::filesystem::path& path_;
};

// Checks the fields of config.json that change the arithmetic. Other fields don't matter.
void check_supported(const ConfigReader& read, const std::filesystem::path& path) {
  const auto require = [&](const char* key, const json& required) {
    if (const json* const value = read.find(key); value != nullptr && *value != required)
      unsupported(path, std::string(key) + " is " + display_text(*value) + ", expected " + required.dump());
  };
  if (read.find("model_type") == nullptr) unsupported(path, "model_type is missing, expected \"qwen2\"");
  require("model_type", "qwen2");
  require("architectures", json::array({"Qwen2ForCausalLM"}));
  require("hidden_act", "silu");
  require("attention_dropout", 0);
  require("use_sliding_window", false);
  require("use_mrope", false);
  for (const char* key : {"quantization_config", "auto_map"})
    if (read.find(key) != nullptr) unsupported(path, std::string(key) + " is set");
  if (const json* const layers = read.find("layer_types"); layers != nullptr)
    for (const json& layer : *layers)
      if (layer != "full_attention") unsupported(path, "layer_types contains " + display_text(layer));
  if (const json* const scaling = read.find("rope_scaling"); scaling != nullptr) {
    const bool unscaled =
        scaling->is_object() && scaling->value("rope_type", scaling->value("type", json())) == "default";
    if (!unscaled) unsupported(path, "rope_scaling is set");
  }
}

}  // namespace

ModelConfig read_model_config(const std::filesystem::path& path) {
  constexpr std::uintmax_t largest_file = 16 << 20;
  const auto text = read_text_file(path, largest_file);
  if (!text)
    throw Error("model_file_missing", "can't read " + path.string(),
                "use a Hugging Face model folder with config.json and model.safetensors");
  return parse_model_config(*text, path);
}

ModelConfig parse_model_config(std::string_view text, const std::filesystem::path& path) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) invalid_config(path, "not a JSON object");
  const ConfigReader read(object, path);

  check_supported(read, path);

  ModelConfig config;
  config.vocab_size = read.integer("vocab_size");
  config.hidden_size = read.integer("hidden_size");
  config.intermediate_size = read.integer("intermediate_size");
  config.num_hidden_layers = read.integer("num_hidden_layers", kMaxLayers);
  config.num_attention_heads = read.integer("num_attention_heads");
  config.num_key_value_heads =
      read.find("num_key_value_heads") == nullptr ? config.num_attention_heads : read.integer("num_key_value_heads");
  if (config.num_attention_heads % config.num_key_value_heads != 0)
    invalid_config(path, "num_attention_heads must be a multiple of num_key_value_heads");
  if (read.find("head_dim") != nullptr)
    config.head_dim = read.integer("head_dim");
  else if (config.hidden_size % config.num_attention_heads == 0)
    config.head_dim = config.hidden_size / config.num_attention_heads;
  else
    invalid_config(path, "hidden_size must be a multiple of num_attention_heads if head_dim is not set");
  if (config.head_dim % 2 != 0) invalid_config(path, "head_dim must be even");
  config.max_position_embeddings = read.integer("max_position_embeddings");
  config.rms_norm_eps = read.number(object, "rms_norm_eps");
  config.tie_word_embeddings = read.flag("tie_word_embeddings", false);
  // transformers 5 stores the rotary settings in a separate object.
  if (const json* const rotary = read.find("rope_parameters"); rotary != nullptr && rotary->is_object()) {
    if (rotary->contains("rope_type") && (*rotary)["rope_type"] != "default")
      unsupported(path, "rope_type is " + display_text((*rotary)["rope_type"]));
    config.rope_theta = read.number(*rotary, "rope_theta");
  } else {
    config.rope_theta = read.number(object, "rope_theta");
  }
  return config;
}

void write_model_config(const ModelConfig& config, const std::filesystem::path& path) {
  // Writes the shortest decimal: 1e-06 instead of 9.999999974752427e-07.
  const auto shortest = [](float value) {
    char text[32];
    for (int digits = 1; digits <= 9; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
      if (std::strtof(text, nullptr) == value) break;
    }
    return std::strtod(text, nullptr);
  };
  const nlohmann::ordered_json object = {
      {"architectures", {"Qwen2ForCausalLM"}},
      {"attention_dropout", 0.0},
      {"head_dim", config.head_dim},
      {"hidden_act", "silu"},
      {"hidden_size", config.hidden_size},
      {"initializer_range", 0.02},
      {"intermediate_size", config.intermediate_size},
      {"max_position_embeddings", config.max_position_embeddings},
      {"model_type", "qwen2"},
      {"num_attention_heads", config.num_attention_heads},
      {"num_hidden_layers", config.num_hidden_layers},
      {"num_key_value_heads", config.num_key_value_heads},
      {"rms_norm_eps", shortest(config.rms_norm_eps)},
      {"rope_scaling", nullptr},
      {"rope_theta", shortest(config.rope_theta)},
      {"tie_word_embeddings", config.tie_word_embeddings},
      {"torch_dtype", "float32"},
      {"use_cache", true},
      {"use_sliding_window", false},
      {"vocab_size", config.vocab_size},
  };
  write_file_atomically(path, object.dump(2) + "\n");
}

}  // namespace starpo
