#include "cli/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/processor.h"
#include "engine/load_weights.h"
#include "model/folder.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

Json error_answer(const char* code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

Json malformed_request() {
  return error_answer("malformed_line", "a line must be {\"ids\": [...]} with at least one token id, each an integer");
}

Json score(NetworkPass& pass, const ModelConfig& config, const Json& request) {
  if (!request.is_object() || request.size() != 1 || !request.contains("ids")) return malformed_request();
  const Json& ids = request["ids"];
  const auto is_whole = [](const Json& id) { return id.is_number_integer(); };
  if (!ids.is_array() || ids.empty() || !std::all_of(ids.begin(), ids.end(), is_whole)) return malformed_request();
  const auto longest = static_cast<std::size_t>(config.max_position_embeddings);
  if (ids.size() > longest)
    return error_answer("sequence_too_long",
                        std::to_string(ids.size()) + " ids exceed the model's maximum of " + std::to_string(longest));

  PackedBatch batch;
  for (const Json& id : ids) {
    const bool in_vocabulary =
        id.is_number_unsigned() && id.get<std::uint64_t>() < static_cast<std::uint64_t>(config.vocab_size);
    if (!in_vocabulary)
      return error_answer("token_out_of_vocabulary",
                          "id " + id.dump() + " at position " + std::to_string(batch.tokens.size()) +
                              " is outside the range 0 to " + std::to_string(config.vocab_size - 1));
    batch.tokens.push_back(id.get<std::int32_t>());
  }
  std::vector<float> logprobs(ids.size() - 1), entropies(ids.size() - 1);
  if (!logprobs.empty()) {
    batch.sequence_starts = {0, static_cast<std::int32_t>(ids.size())};
    batch.targets.resize(logprobs.size());
    std::iota(batch.targets.begin(), batch.targets.end(), 1);
    pass.forward(batch, 1.0f, logprobs, entropies);
  }
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(logprobs.begin(), logprobs.end(), is_finite) ||
      !std::all_of(entropies.begin(), entropies.end(), is_finite))
    return error_answer(
        "non_finite_score",
        "the model's log-probabilities for these ids are not finite; its weights are too large for fp32");
  return {{"logprobs", logprobs}, {"entropies", entropies}};
}

}  // namespace

void score_sequences(Network& network, std::istream& requests, std::ostream& answers) {
  const auto pass = network.make_pass();
  for (std::string line; std::getline(requests, line);) {
    Json answer;
    try {
      answer = score(*pass, network.layout().config(), Json::parse(line, nullptr, false));
    } catch (const std::bad_alloc&) {
      answer = error_answer("out_of_memory", "not enough memory for a sequence of this length");
    }
    answers << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!answers)
      throw Error("file_unwritable", "can't write to standard output",
                  "check its destination: the disk may be full, or the reading program may have exited");
  }
}

int score_command(const std::filesystem::path& model_folder, const EngineSettings& settings) {
  ThreadPool threads(describe_processor().threads);
  const auto engine = make_engine(settings, threads);
  EngineNeeds needs{.model = read_model_folder_config(model_folder)};
  needs.pass_tokens = needs.model.max_position_embeddings;
  if (engine->takes_memory_ahead()) engine->reserve(needs);  // otherwise memory grows with the requests
  const auto network = engine->make_network(needs.model, ModelHead::language, NetworkUse::read);
  load_weights(model_folder, *network);
  score_sequences(*network, std::cin, std::cout);
  return 0;
}

}  // namespace starpo
