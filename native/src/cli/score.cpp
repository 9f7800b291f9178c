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

Json refused(const char* code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

Json malformed() {
  return refused("malformed_line", "a line is {\"ids\": [...]} with at least one token id, each a whole number");
}

Json score(NetworkPass& pass, const ModelConfig& config, const Json& request) {
  if (!request.is_object() || request.size() != 1 || !request.contains("ids")) return malformed();
  const Json& ids = request["ids"];
  const auto is_whole = [](const Json& id) { return id.is_number_integer(); };
  if (!ids.is_array() || ids.empty() || !std::all_of(ids.begin(), ids.end(), is_whole)) return malformed();
  const auto longest = static_cast<std::size_t>(config.max_position_embeddings);
  if (ids.size() > longest)
    return refused("sequence_too_long", "there are " + std::to_string(ids.size()) +
                                            " ids, but the model reads at most " + std::to_string(longest));

  PackedBatch batch;
  for (const Json& id : ids) {
    const bool known =
        id.is_number_unsigned() && id.get<std::uint64_t>() < static_cast<std::uint64_t>(config.vocab_size);
    if (!known)
      return refused("token_out_of_vocabulary", "id " + id.dump() + " at place " + std::to_string(batch.tokens.size()) +
                                                    " is not from 0 to " + std::to_string(config.vocab_size - 1));
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
    return refused(
        "non_finite_score",
        "the model's answer to these ids holds values that are not finite numbers; its weights are too large for fp32");
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
      answer = refused("out_of_memory", "there isn't enough memory for a sequence of this length");
    }
    answers << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!answers)
      throw Error("file_unwritable", "the answers can't be written to standard output",
                  "check where standard output goes: a full disk, or a program that has ended");
  }
}

int score_command(const std::filesystem::path& model_folder, const EngineSettings& settings) {
  ThreadPool threads(describe_processor().threads);
  const auto engine = make_engine(settings, threads);
  EngineNeeds needs{.model = read_model_folder_config(model_folder)};
  needs.pass_tokens = needs.model.max_position_embeddings;
  if (engine->takes_memory_ahead()) engine->reserve(needs);  // else what is asked for decides
  const auto network = engine->make_network(needs.model, ModelHead::language, NetworkUse::read);
  load_weights(model_folder, *network);
  score_sequences(*network, std::cin, std::cout);
  return 0;
}

}  // namespace starpo
