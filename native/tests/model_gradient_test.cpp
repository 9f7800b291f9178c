#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "algorithm/sample_loss.h"
#include "engine/cpu/decoder.h"
#include "model_fixtures.h"
#include "model_reference.h"

namespace starpo {

namespace {

constexpr float kGradientTemperature = 0.7f;

// loss is a function of `exact`. The gradients were computed from the same weights.
void check_gradients(const ParameterLayout& layout, const std::vector<float>& gradients, std::vector<double>& exact,
                     const std::function<double()>& loss) {
  for (const TensorSlot& tensor : layout.tensors()) {
    double largest = 0;
    for (std::size_t i = 0; i < tensor.size; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(gradients[tensor.offset + i])));
    CAPTURE(tensor.name);
    CHECK(largest > 0);
    for (int sample = 0; sample < 6; ++sample) {
      const std::size_t i = tensor.offset + static_cast<std::size_t>((random_value(6, sample) + 1) / 2 * tensor.size);
      const double slope = reference::derivative(exact[i], 1e-3, loss);
      CAPTURE(i);
      CHECK(std::abs(gradients[i] - slope) < 1e-4 * largest + 1e-6);
    }
  }
}

// Values before the update and returns differ so much that some tokens are clipped and none is at the kink.
void check_critic(const Shape& shape) {
  const ModelConfig config = small_config(shape);
  ThreadPool threads(2);
  CpuModel critic(config, threads, Precision::fp32, ModelHead::value);
  const ParameterLayout& layout = critic.layout();
  const std::vector<float> weights = large_weights(layout);
  load(critic, weights);
  const PackedBatch batch = random_batch(config, {7, 1, 14, 3});
  const std::size_t count = batch.targets.size();
  std::vector<float> values(count), old_values(count), gradients(layout.size()), value_gradients(count);
  CpuTrainingPass pass(critic);
  pass.forward_values(batch, values);

  std::vector<double> exact(weights.begin(), weights.end()), returns(count);
  const auto expected = reference::values(layout, exact, batch);
  int clipped = 0;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(values[i] == doctest::Approx(expected[i]).epsilon(2e-5));
    old_values[i] = values[i] + (i % 3 == 0 ? -0.8f : 0.1f);
    returns[i] = values[i] + (i % 2 == 0 ? 0.9 : -1.3);
  }
  const double clip = 0.5, weight = 1.0 / static_cast<double>(count);
  value_loss(values, old_values, returns, std::vector<bool>(count, true), clip, weight, value_gradients);
  for (const float gradient : value_gradients) clipped += gradient == 0;
  CHECK((clipped > 0 && clipped < static_cast<int>(count)));
  pass.backward_values(value_gradients, gradients);

  check_gradients(layout, gradients, exact, [&] {
    double sum = 0;
    const auto now = reference::values(layout, exact, batch);
    for (std::size_t i = 0; i < count; ++i) {
      const double kept = std::clamp(now[i], old_values[i] - clip, old_values[i] + clip);
      sum += weight / 2 *
             std::max((now[i] - returns[i]) * (now[i] - returns[i]), (kept - returns[i]) * (kept - returns[i]));
    }
    return sum;
  });
}

void check_kl(KlEstimator estimator) {
  const ModelConfig config = small_config({2, 1, 10, true});
  ThreadPool threads(2);
  CpuModel model(config, threads);
  const ParameterLayout& layout = model.layout();
  const std::vector<float> weights = large_weights(layout);
  load(model, weights);
  const PackedBatch batch = random_batch(config, {9, 5});
  const std::size_t count = batch.targets.size();
  std::vector<float> logprobs(count), entropies(count), reference_logprobs(count), logprob_gradients(count),
      gradients(layout.size());
  CpuTrainingPass pass(model);
  pass.forward(batch, kGradientTemperature, logprobs, entropies);
  for (std::size_t i = 0; i < count; ++i)
    reference_logprobs[i] = logprobs[i] + 0.5f * random_value(7, static_cast<std::uint32_t>(i));
  const KlConfig settings{0.3, estimator, KlPlacement::loss, ""};
  PolicyLossSums computed;
  kl_loss(logprobs, reference_logprobs, settings, 0.25, computed, logprob_gradients);
  pass.backward(logprob_gradients, std::vector<float>(count, 0.0f), gradients);

  std::vector<double> exact(weights.begin(), weights.end());
  const auto loss = [&] {
    const auto outputs = reference::forward(layout, exact, batch, kGradientTemperature);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += 0.3 * 0.25 * kl_estimate(estimator, outputs.logprobs[i], reference_logprobs[i]).value;
    return sum;
  };
  CHECK(computed.kl == doctest::Approx(loss()).epsilon(1e-4));
  check_gradients(layout, gradients, exact, loss);
}

// A loss with further terms, whose gradient per token the host computes between the passes.
void check_sample_loss(PolicyObjective objective, RatioLevel level) {
  const ModelConfig config = small_config({2, 1, 10, true});
  ThreadPool threads(2);
  CpuModel model(config, threads);
  const ParameterLayout& layout = model.layout();
  const std::vector<float> weights = large_weights(layout);
  load(model, weights);
  const PackedBatch batch = random_batch(config, {11});
  const std::size_t count = batch.targets.size();
  std::vector<float> logprobs(count), entropies(count), gradients(layout.size());
  CpuTrainingPass pass(model);
  pass.forward(batch, kGradientTemperature, logprobs, entropies);

  LossConfig settings;
  settings.policy.objective = objective;
  settings.policy.ratio_level = level;
  settings.policy.clip_low = settings.policy.clip_high = 0.3;
  settings.policy.entropy_coefficient = 0.2;
  settings.policy.entropy_tokens = EntropyTokens::reasoning;
  settings.policy.log_ratio_penalty = 0.1;
  settings.policy.likelihood_coefficient = 0.4;
  settings.policy.cross_entropy_coefficient = 0.3;
  settings.correction = {CorrectionWeights::truncate, CorrectionLevel::sequence, 0.5, 1.2};
  settings.kl = {0.3, KlEstimator::k2, KlPlacement::loss, ""};
  LossSample sample;
  sample.turn_lengths = {4, static_cast<int>(count) - 4};
  for (std::size_t t = 0; t < count; ++t) {
    const auto shifted = [&](std::uint32_t stream) {
      return logprobs[t] + 0.2 * random_value(stream, static_cast<std::uint32_t>(t));
    };
    sample.old_logprobs.push_back(shifted(11));
    sample.rollout_logprobs.push_back(shifted(12));
    sample.reference_logprobs.push_back(shifted(13));
    sample.advantages.push_back(level == RatioLevel::turn && t >= 4 ? -0.7 : 1.1);
    sample.reasoning.push_back(t % 3 != 0);
    sample.imitation.push_back(0.5 + static_cast<double>(t % 2));
  }
  const SampleWeights token_weight{0.25, 0.5, 0.1, 0.2};
  const auto loss_at = [&](const std::vector<double>& lp, const std::vector<double>& entropy,
                           std::span<double> lp_slope, std::span<double> entropy_slope) {
    sample.logprobs = lp;
    sample.entropies = entropy;
    PolicyLossSums sums;
    sample_loss(sample, token_weight, settings, sums, lp_slope, entropy_slope);
    return sums.loss;
  };
  std::vector<double> lp_slope(count), entropy_slope(count);
  loss_at({logprobs.begin(), logprobs.end()}, {entropies.begin(), entropies.end()}, lp_slope, entropy_slope);
  pass.backward(std::vector<float>(lp_slope.begin(), lp_slope.end()),
                std::vector<float>(entropy_slope.begin(), entropy_slope.end()), gradients);

  std::vector<double> exact(weights.begin(), weights.end()), ignored(count), also_ignored(count);
  check_gradients(layout, gradients, exact, [&] {
    const auto outputs = reference::forward(layout, exact, batch, kGradientTemperature);
    return loss_at(outputs.logprobs, outputs.entropies, ignored, also_ignored);
  });
}

void check_model(const Shape& shape) {
  const ModelConfig config = small_config(shape);
  ThreadPool threads(2);
  CpuModel model(config, threads);
  const ParameterLayout& layout = model.layout();
  const std::vector<float> weights = large_weights(layout);
  load(model, weights);
  const PackedBatch batch = random_batch(config, {7, 1, 14, 3});
  const TrainingResult result = train(model, {batch}, kGradientTemperature);

  std::vector<double> exact(weights.begin(), weights.end());
  const auto logprob_gradients = random_values(3, batch.targets.size()),
             entropy_gradients = random_values(4, batch.targets.size());
  const reference::Outputs expected = reference::forward(layout, exact, batch, kGradientTemperature);
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    CHECK(result.logprobs[i] == doctest::Approx(expected.logprobs[i]).epsilon(2e-5));
    CHECK(result.entropies[i] == doctest::Approx(expected.entropies[i]).epsilon(2e-5));
  }

  const auto loss = [&] {
    const reference::Outputs outputs = reference::forward(layout, exact, batch, kGradientTemperature);
    double sum = 0;
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      sum += logprob_gradients[i] * outputs.logprobs[i] + entropy_gradients[i] * outputs.entropies[i];
    return sum;
  };
  check_gradients(layout, result.gradients, exact, loss);
}

}  // namespace

TEST_CASE("gradients of the whole loss match finite differences of a double-precision model") {
  SUBCASE("tied embeddings, one key-value head per query head") { check_model({2, 2, 10, true}); }
  SUBCASE("untied embeddings, grouped-query attention") { check_model({4, 2, 6, false}); }
  SUBCASE("tied embeddings, a single key-value head") { check_model({3, 1, 64, true}); }
}

TEST_CASE("gradients of the value loss through the whole critic match finite differences of a double-precision model") {
  SUBCASE("critic of a policy with tied embeddings") { check_critic({2, 2, 10, true}); }
  SUBCASE("critic of a policy with untied embeddings") { check_critic({4, 2, 6, false}); }
}

TEST_CASE("gradients of the KL term through the whole policy match finite differences of a double-precision model") {
  SUBCASE("k1") { check_kl(KlEstimator::k1); }
  SUBCASE("k2") { check_kl(KlEstimator::k2); }
  SUBCASE("k3") { check_kl(KlEstimator::k3); }
}

TEST_CASE("gradients of losses computed between the passes match finite differences of a double-precision model") {
  SUBCASE("mean ratios of turns") { check_sample_loss(PolicyObjective::clip, RatioLevel::turn); }
  SUBCASE("mean ratio of the sequence") { check_sample_loss(PolicyObjective::clip, RatioLevel::sequence); }
  SUBCASE("SAPO") { check_sample_loss(PolicyObjective::sapo, RatioLevel::token); }
  SUBCASE("DPPO") { check_sample_loss(PolicyObjective::dppo, RatioLevel::token); }
}

TEST_CASE("the decoder's logits match the double-precision model") {
  const ModelConfig config = small_config({4, 2, 6, false});
  ThreadPool threads(2);
  CpuModel model(config, threads);
  const std::vector<float> weights = large_weights(model.layout());
  load(model, weights);
  const PackedBatch batch = random_batch(config, {60});
  const reference::Outputs expected = reference::forward(model.layout(), {weights.begin(), weights.end()}, batch, 1);
  CpuDecoder decoder(model, 1, 64);
  std::vector<float> logits(config.vocab_size);
  for (std::size_t t = 0; t < batch.tokens.size(); ++t) {
    const SlotTokens entry{0, std::span(batch.tokens).subspan(t, 1)};
    decoder.extend({&entry, 1}, logits);
    for (int v = 0; v < config.vocab_size; ++v) CHECK(std::abs(logits[v] - expected.logits[t][v]) < 2e-5);
  }
}

}  // namespace starpo
