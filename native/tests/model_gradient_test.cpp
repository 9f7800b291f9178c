#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "model/decoder.h"
#include "model_fixtures.h"
#include "model_reference.h"

namespace starpo {

namespace {

constexpr float kTemperature = 0.7f;

void check_model(const Shape& shape) {
  const ModelConfig config = small_config(shape);
  ThreadPool threads(2);
  Model model(config, threads);
  const ParameterLayout& layout = model.layout();
  const std::vector<float> weights = lively_weights(layout);
  load(model, weights);
  const PackedBatch batch = random_batch(config, {7, 1, 14, 3});
  const TrainingResult result = train(model, {batch}, kTemperature);

  std::vector<double> exact(weights.begin(), weights.end());
  const auto logprob_gradients = random_values(3, batch.targets.size()), entropy_gradients = random_values(4, batch.targets.size());
  const reference::Outputs expected = reference::forward(layout, exact, batch, kTemperature);
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    CHECK(result.logprobs[i] == doctest::Approx(expected.logprobs[i]).epsilon(2e-5));
    CHECK(result.entropies[i] == doctest::Approx(expected.entropies[i]).epsilon(2e-5));
  }

  const auto loss = [&] {
    const reference::Outputs outputs = reference::forward(layout, exact, batch, kTemperature);
    double sum = 0;
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      sum += logprob_gradients[i] * outputs.logprobs[i] + entropy_gradients[i] * outputs.entropies[i];
    return sum;
  };
  for (const TensorSlot& tensor : layout.tensors()) {
    double largest = 0;
    for (std::size_t i = 0; i < tensor.size; ++i) largest = std::max(largest, std::abs(static_cast<double>(result.gradients[tensor.offset + i])));
    CAPTURE(tensor.name);
    CHECK(largest > 0);
    for (int sample = 0; sample < 6; ++sample) {
      const std::size_t i = tensor.offset + static_cast<std::size_t>((random_value(6, sample) + 1) / 2 * tensor.size);
      const double slope = reference::derivative(exact[i], 1e-3, loss);
      CAPTURE(i);
      CHECK(std::abs(result.gradients[i] - slope) < 1e-4 * largest + 1e-6);
    }
  }
}

}  // namespace

TEST_CASE("gradients of the whole loss agree with finite differences of a model in double") {
  SUBCASE("tied, a key-value head for each query head") { check_model({2, 2, 10, true}); }
  SUBCASE("untied, grouped-query attention") { check_model({4, 2, 6, false}); }
  SUBCASE("tied, one key-value head") { check_model({3, 1, 64, true}); }
}

TEST_CASE("the decoder's logits agree with the model in double") {
  const ModelConfig config = small_config({4, 2, 6, false});
  ThreadPool threads(2);
  Model model(config, threads);
  const std::vector<float> weights = lively_weights(model.layout());
  load(model, weights);
  const PackedBatch batch = random_batch(config, {60});
  const reference::Outputs expected =
      reference::forward(model.layout(), {weights.begin(), weights.end()}, batch, 1);
  Decoder decoder(model, 1, 64);
  std::vector<float> logits(config.vocab_size);
  for (std::size_t t = 0; t < batch.tokens.size(); ++t) {
    const SlotTokens entry{0, std::span(batch.tokens).subspan(t, 1)};
    decoder.extend({&entry, 1}, logits);
    for (int v = 0; v < config.vocab_size; ++v) CHECK(std::abs(logits[v] - expected.logits[t][v]) < 2e-5);
  }
}

}  // namespace starpo
