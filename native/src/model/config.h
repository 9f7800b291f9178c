#pragma once

#include <filesystem>
#include <string_view>

namespace starpo {

// The shape of a Qwen2 model, with the names of its Hugging Face config.json.
struct ModelConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_hidden_layers = 0;
  int num_attention_heads = 0;
  int num_key_value_heads = 0;
  int head_dim = 0;  // from config.json; default: hidden_size / num_attention_heads
  int max_position_embeddings = 0;
  float rope_theta = 0;
  float rms_norm_eps = 0;
  bool tie_word_embeddings = false;

  bool operator==(const ModelConfig&) const = default;
};

// Reads a config.json. Errors: model_file_missing, model_config_invalid (names the field), model_unsupported
// (model_type is not qwen2, an unsupported activation, sliding window attention, ...).
ModelConfig read_model_config(const std::filesystem::path& config_json);
// Parses the text of a config.json. Errors name `path`.
ModelConfig parse_model_config(std::string_view json, const std::filesystem::path& path);
void write_model_config(const ModelConfig&, const std::filesystem::path& config_json);

}  // namespace starpo
