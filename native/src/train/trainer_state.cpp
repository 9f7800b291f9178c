#include "train/trainer_state.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "model/folder.h"

namespace starpo {
namespace {

int thread_count(int configured) { return configured > 0 ? configured : std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::map<std::string, std::string> read_tokenizer_files(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    if (std::ifstream file(folder / name, std::ios::binary); file) files[name].assign(std::istreambuf_iterator<char>(file), {});
  return files;
}

}  // namespace

TrainerState::TrainerState(RunConfig run_config, const std::filesystem::path& model_folder)
    : config(std::move(run_config)),
      threads(thread_count(config.threads)),
      tokenizer(Tokenizer::load(model_folder)),
      tokenizer_files(read_tokenizer_files(model_folder)),
      chat(tokenizer, config.rollout.think),
      model(read_model_folder_config(model_folder), threads, precision_from_name(config.precision)),
      optimizer(model.layout().size()),
      decayed(model.layout().size(), 0) {
  if (tokenizer.vocab_size() > model.layout().config().vocab_size)
    throw Error("model_tokenizer_mismatch",
                "the tokenizer has " + std::to_string(tokenizer.vocab_size()) + " tokens but the model only " + std::to_string(model.layout().config().vocab_size),
                "use the tokenizer.json that belongs to the model");
  if (config.rollout.context > model.layout().config().max_position_embeddings)
    throw Error("config_invalid",
                "rollout.context is " + std::to_string(config.rollout.context) + " but the model reads at most " +
                    std::to_string(model.layout().config().max_position_embeddings) + " tokens",
                "lower rollout.context");

  for (const TensorSlot& tensor : model.layout().tensors())
    if (tensor.shape.size() > 1) std::fill_n(decayed.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.size, 1);
  for (const auto& environment : config.environments) {
    prototypes.push_back(make_environment(environment.type, environment.config));
    rules.push_back({environment, config.rollout, config.reward, tokenizer, chat});
  }
}

}  // namespace starpo
