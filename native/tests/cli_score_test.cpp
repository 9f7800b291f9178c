#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "cli/commands.h"
#include "engine/cpu/cpu_engine.h"
#include "error_code.h"
#include "model_fixtures.h"
#include "model_reference.h"

namespace starpo {

namespace {

using nlohmann::json;

std::vector<json> answers_of(Network& network, const std::string& input) {
  std::istringstream requests(input);
  std::ostringstream answers;
  score_sequences(network, requests, answers);
  std::vector<json> result;
  std::istringstream lines(answers.str());
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

// Returns a sequence whose tokens, except the first, are targets.
PackedBatch whole_sequence(const ModelConfig& config, int length) {
  PackedBatch batch = random_batch(config, {length});
  batch.targets.clear();
  for (int i = 1; i < length; ++i) batch.targets.push_back(i);
  return batch;
}

std::string request(const PackedBatch& batch) { return json{{"ids", batch.tokens}}.dump() + "\n"; }

}  // namespace

TEST_CASE("scores match the reference forward pass and are bit-identical to training") {
  ThreadPool threads(2);
  for (const bool tied : {true, false}) {
    CpuNetwork network(small_config({4, 2, 6, tied}), threads, Precision::fp32, ModelHead::language, NetworkUse::read);
    const auto weights = large_weights(network.layout());
    network.write_weights(0, weights);
    const auto pass = network.make_pass();
    std::string input;
    std::vector<PackedBatch> batches;
    for (const int length : {2, 60, 7, 130}) {
      batches.push_back(whole_sequence(network.layout().config(), length));
      input += request(batches.back());
    }
    const auto answers = answers_of(network, input);
    REQUIRE(answers.size() == batches.size());
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::size_t count = batches[i].targets.size();
      CHECK(answers[i].size() == 2);
      const auto logprobs = answers[i].at("logprobs").get<std::vector<float>>(),
                 entropies = answers[i].at("entropies").get<std::vector<float>>();
      REQUIRE(logprobs.size() == count);
      REQUIRE(entropies.size() == count);
      const auto expected = reference::forward(network.layout(), {weights.begin(), weights.end()}, batches[i], 1);
      for (std::size_t t = 0; t < count; ++t) {
        CHECK(logprobs[t] == doctest::Approx(expected.logprobs[t]).epsilon(2e-5));
        CHECK(entropies[t] == doctest::Approx(expected.entropies[t]).epsilon(2e-5));
      }
      std::vector<float> trained_logprobs(count), trained_entropies(count);
      pass->forward(batches[i], 1, trained_logprobs, trained_entropies);
      CHECK(same_bits(logprobs, trained_logprobs));
      CHECK(same_bits(entropies, trained_entropies));
    }
  }
}

TEST_CASE("a model with zero weights gives every id the same probability") {
  ThreadPool threads(1);
  CpuNetwork network(small_config({4, 2, 6, true}), threads, Precision::fp32, ModelHead::language, NetworkUse::read);
  network.write_weights(0, std::vector<float>(network.layout().size()));
  const auto answers = answers_of(network, "{\"ids\": [0, 36, 5]}");
  REQUIRE(answers.size() == 1);
  for (const int i : {0, 1}) {
    CHECK(answers[0].at("logprobs").at(i).get<double>() == doctest::Approx(-std::log(37.0)).epsilon(1e-6));
    CHECK(answers[0].at("entropies").at(i).get<double>() == doctest::Approx(std::log(37.0)).epsilon(1e-6));
  }
}

TEST_CASE("an invalid line gets an error, and the next line is scored") {
  ThreadPool threads(1);
  ModelConfig config = small_config({4, 2, 6, true});
  config.max_position_embeddings = 8;
  CpuNetwork network(config, threads, Precision::fp32, ModelHead::language, NetworkUse::read);
  network.write_weights(0, large_weights(network.layout()));
  const std::string good = "{\"ids\":[1,2,3,4,5,6,7,8]}\n";
  const json expected = answers_of(network, good).at(0);
  CHECK(expected.at("logprobs").size() == 7);
  const std::vector<std::pair<std::string, std::string>> lines{
      {"", "malformed_line"},
      {"nonsense", "malformed_line"},
      {"\xff\xfe", "malformed_line"},
      {"[1, 2]", "malformed_line"},
      {"{}", "malformed_line"},
      {"{\"tokens\": [1, 2]}", "malformed_line"},
      {"{\"ids\": [1, 2], \"temperature\": 2}", "malformed_line"},
      {"{\"ids\": 3}", "malformed_line"},
      {"{\"ids\": []}", "malformed_line"},
      {"{\"ids\": [1, \"2\"]}", "malformed_line"},
      {"{\"ids\": [1, 2.0]}", "malformed_line"},
      {"{\"ids\": [1, null]}", "malformed_line"},
      {"{\"ids\": [1, 2]", "malformed_line"},
      {"{\"ids\": [1, 37]}", "token_out_of_vocabulary"},
      {"{\"ids\": [-1, 2]}", "token_out_of_vocabulary"},
      {"{\"ids\": [4294967296]}", "token_out_of_vocabulary"},
      {"{\"ids\": [18446744073709551615, 1]}", "token_out_of_vocabulary"},
      {"{\"ids\": [1,2,3,4,5,6,7,8,9]}", "sequence_too_long"},
  };
  std::string input;
  for (const auto& [line, code] : lines) input += line + "\n" + good;
  const auto answers = answers_of(network, input);
  REQUIRE(answers.size() == 2 * lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(lines[i].first);
    const json& error = answers[2 * i].at("error");
    CHECK(error.at("code") == lines[i].second);
    CHECK_FALSE(error.at("message").get<std::string>().empty());
    CHECK(answers[2 * i + 1] == expected);
  }
  CHECK(answers_of(network, "{\"ids\": [3]}").at(0) == json{{"logprobs", json::array()}, {"entropies", json::array()}});
  CHECK(answers_of(network, "").empty());
}

TEST_CASE("a non-finite result is an error, not null") {
  ThreadPool threads(1);
  CpuNetwork network(small_config({4, 2, 6, true}), threads, Precision::fp32, ModelHead::language, NetworkUse::read);
  std::vector<float> weights = large_weights(network.layout());
  for (float& weight : weights) weight *= 1e30f;
  network.write_weights(0, weights);
  CHECK(answers_of(network, "{\"ids\": [1, 2, 3]}").at(0).at("error").at("code") == "non_finite_score");
}

TEST_CASE("an output error ends score with an error") {
  ThreadPool threads(1);
  CpuNetwork network(small_config({4, 2, 6, true}), threads, Precision::fp32, ModelHead::language, NetworkUse::read);
  network.write_weights(0, large_weights(network.layout()));
  std::istringstream requests("{\"ids\": [1, 2]}\n");
  std::ostream null_stream(nullptr);
  CHECK(error_code_of([&] { score_sequences(network, requests, null_stream); }) == "file_unwritable");
}

}  // namespace starpo
