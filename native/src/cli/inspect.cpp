#include "cli/commands.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "model/folder.h"
#include "model/parameters.h"
#include "model/published_files.h"
#include "rollout/prompt.h"
#include "tokenizer/tokenizer.h"
#include "train/context/trainer_state.h"

namespace starpo {

int inspect_command(const std::filesystem::path& model_folder, bool json) {
  const ModelConfig config = read_model_folder_config(model_folder);
  const ParameterLayout layout(config);
  const auto tokenizer = Tokenizer::load(model_folder);
  check_vocabulary(tokenizer, config);
  const ChatFormat chat(tokenizer, true, read_stop_ids(model_folder));
  check_model_folder_weights(model_folder, layout);
  if (!json) {
    std::cout << layout.size() << " parameters, " << counted(config.num_hidden_layers, "layer") << " of "
              << config.hidden_size << ", " << tokenizer.vocab_size() << " tokens\n";
    return 0;
  }
  const nlohmann::ordered_json facts{{"parameters", layout.size()},
                                     {"vocab_size", config.vocab_size},
                                     {"hidden_size", config.hidden_size},
                                     {"intermediate_size", config.intermediate_size},
                                     {"num_hidden_layers", config.num_hidden_layers},
                                     {"num_attention_heads", config.num_attention_heads},
                                     {"num_key_value_heads", config.num_key_value_heads},
                                     {"head_dim", config.head_dim},
                                     {"max_position_embeddings", config.max_position_embeddings},
                                     {"tie_word_embeddings", config.tie_word_embeddings},
                                     {"tokenizer_tokens", tokenizer.vocab_size()},
                                     {"stop_ids", chat.stop_ids()}};
  std::cout << facts.dump() << "\n";
  return 0;
}

}  // namespace starpo
