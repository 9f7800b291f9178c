#include "cli/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "base/processor.h"
#include "cli/json_lines.h"
#include "engine/load_weights.h"
#include "model/folder.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

RequestError malformed_request() {
  return {"malformed_line", "a line must be {\"ids\": [...]} with at least one token id, each an integer"};
}

Json score(NetworkPass& pass, const ModelConfig& config, const Json& request) {
  if (!request.is_object() || request.size() != 1 || !request.contains("ids")) throw malformed_request();
  const Json& ids = request["ids"];
  if (!is_id_list(ids) || ids.empty()) throw malformed_request();
  const auto longest = static_cast<std::size_t>(config.max_position_embeddings);
  if (ids.size() > longest)
    throw RequestError{"sequence_too_long",
                       std::to_string(ids.size()) + " ids exceed the model's maximum of " + std::to_string(longest)};

  PackedBatch batch;
  batch.tokens = token_ids(ids, config.vocab_size);
  std::vector<float> logprobs(ids.size() - 1), entropies(ids.size() - 1);
  if (!logprobs.empty()) {
    batch.sequence_starts = {0, static_cast<std::int32_t>(ids.size())};
    batch.targets.resize(logprobs.size());
    std::iota(batch.targets.begin(), batch.targets.end(), 1);
    pass.forward(batch, 1.0f, logprobs, entropies);
  }
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(logprobs, is_finite) || !std::ranges::all_of(entropies, is_finite))
    throw RequestError{
        "non_finite_score",
        "the model's log-probabilities or entropies for these ids are not finite; its weights are too large"};
  return {{"logprobs", logprobs}, {"entropies", entropies}};
}

}  // namespace

void score_sequences(Network& network, std::istream& requests, std::ostream& answers) {
  const auto pass = network.make_pass();
  answer_lines(requests, answers, [&](const Json& request) {
    try {
      return score(*pass, network.layout().config(), request);
    } catch (const std::bad_alloc&) {
      throw RequestError{"out_of_memory", "not enough memory for a sequence of this length"};
    }
  });
}

int score_command(const std::filesystem::path& model_folder, const EngineSettings& settings) {
  ThreadPool threads(available_threads());
  const auto engine = make_engine(settings, threads);
  EngineNeeds needs{.model = read_model_folder_config(model_folder)};
  needs.pass_tokens = needs.model.max_position_embeddings;
  if (engine->preallocates()) engine->reserve(needs);  // otherwise memory grows with the requests
  const auto network = engine->make_network(needs.model, ModelHead::language, NetworkUse::read);
  load_weights(model_folder, *network);
  score_sequences(*network, std::cin, std::cout);
  return 0;
}

}  // namespace starpo
