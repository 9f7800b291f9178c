#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "engine/cpu/decoder.h"
#include "engine/engine.h"
#include "model_fixtures.h"
#include "model_reference.h"
#include "train/update/policy_pass.h"

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

// Returns an episode with a sample of two turns and one of a single turn, and an episode with a single turn.
std::vector<Episode> short_episodes(const ModelConfig& config) {
  std::vector<Episode> episodes(2);
  std::uint32_t index = 0;
  const auto add_turn = [&](Episode& episode, int tokens, bool begins_context) {
    Turn& turn = episode.turns.emplace_back();
    turn.begins_context = begins_context;
    turn.think_tokens = 1;
    turn.logprobs.resize(tokens);
    for (int i = -2; i < tokens; ++i)
      (i < 0 ? turn.context_ids : turn.ids)
          .push_back(static_cast<std::int32_t>((random_value(10, index++) + 1) / 2 * config.vocab_size));
  };
  add_turn(episodes[0], 4, true);
  add_turn(episodes[0], 3, false);
  add_turn(episodes[0], 2, true);
  add_turn(episodes[1], 3, true);
  return episodes;
}

// Returns the log-ratio that weights and clips a token: its own, a mean over its turn or sample, or a sum over its
// episode.
double shared_log_ratio(RatioLevel level, std::span<const Sequence> sequences, std::span<const LossSample> samples,
                        std::size_t s, std::size_t t) {
  double sum = 0, count = 0;
  for (std::size_t other = 0; other < samples.size(); ++other) {
    const LossSample& sample = samples[other];
    const auto turn = [&](std::size_t token) { return static_cast<int>(token) >= sample.turn_lengths[0]; };
    for (std::size_t u = 0; u < sample.logprobs.size(); ++u) {
      const bool own = other == s;
      if (level == RatioLevel::trajectory ? sequences[other].episode != sequences[s].episode : !own) continue;
      if (level == RatioLevel::token && u != t) continue;
      if (level == RatioLevel::turn && turn(u) != turn(t)) continue;
      sum += sample.logprobs[u] - sample.old_logprobs[u];
      ++count;
    }
  }
  return level == RatioLevel::trajectory ? sum : sum / count;
}

// Compares the gradient of a whole loss on an engine with slopes along one random direction per tensor.
void check_policy_pass(const std::string& device, const LossConfig& config) {
  const ModelConfig model{37, 24, 40, 1, 2, 1, 16, 64, 1000, 1e-6f, true};
  ThreadPool threads(1);
  const auto engine = make_engine({device}, threads);
  EngineNeeds needs;
  needs.model = model;
  needs.trains_policy = true;
  needs.pass_tokens = 16;
  engine->reserve(needs);
  const auto network = engine->make_network(model, ModelHead::language, NetworkUse::trained);
  const ParameterLayout& layout = network->layout();
  const std::vector<float> weights = large_weights(layout);
  network->write_weights(0, weights);

  const std::vector<Episode> episodes = short_episodes(model);
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes)
    for (Sequence& sequence : make_sequences(episode)) sequences.push_back(std::move(sequence));
  const PackedBatch batch = pack(sequences);
  std::vector<double> exact(weights.begin(), weights.end());
  const auto start = reference::forward(layout, exact, batch, kGradientTemperature);
  std::vector<LossSample> samples;  // at these weights
  std::uint32_t index = 0;
  for (Sequence& sequence : sequences) {
    std::vector<float> logprobs;
    for (float& rollout_logprob : sequence.rollout_logprobs) {
      const auto shifted = [&](std::uint32_t stream) {
        return static_cast<float>(start.logprobs[index] + 0.2 * random_value(stream, index));
      };
      logprobs.push_back(static_cast<float>(start.logprobs[index]));
      rollout_logprob = shifted(12);
      if (config.correction.is_active()) sequence.old_logprobs.push_back(shifted(11));
      sequence.reference_logprobs.push_back(shifted(13));
      sequence.advantages.push_back(random_value(14, index++));
      if (sequence.episode == &episodes[1]) sequence.imitation.push_back(0.5 + index % 2);
    }
    samples.push_back(loss_sample(sequence, logprobs, std::vector<float>(logprobs.size()), config.policy));
  }

  const auto token_weights = sequence_weights(sequences, config.policy, 20);
  const auto pass = network->make_pass();
  network->trained().clear_gradients();
  const auto episode_log_ratios = trajectory_log_ratios(*pass, sequences, config, 16, kGradientTemperature, [] {});
  PolicyLossSums computed;
  for (const MicroBatch& micro : split_into_micro_batches(sequences, 16)) {
    const auto own = std::span<const Sequence>(sequences).subspan(micro.first, micro.count);
    const PackedBatch packed = pack(own);
    std::vector<float> logprobs(packed.targets.size()), entropies(logprobs.size());
    policy_pass(*pass, packed, own, std::span(token_weights).subspan(micro.first, micro.count), episode_log_ratios,
                config, kGradientTemperature, logprobs, entropies, computed);
  }
  take_step(network->trained(), {0, 0, 0, 1, 0, 0});  // without momentum, the first moment is the gradient
  const std::vector<float> gradients = read_state(network->trained(), StateVector::first_moment);

  // A ratio of several tokens has a gradient through the token's own part only.
  LossConfig by_token = config;
  by_token.policy.ratio_level = RatioLevel::token;
  const auto loss = [&] {
    const auto now = reference::forward(layout, exact, batch, kGradientTemperature);
    PolicyLossSums policy, others;
    std::size_t first = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      LossSample sample = samples[s], frozen = samples[s];
      const std::size_t count = sample.logprobs.size();
      sample.logprobs.assign(now.logprobs.begin() + first, now.logprobs.begin() + first + count);
      sample.entropies.assign(now.entropies.begin() + first, now.entropies.begin() + first + count);
      for (std::size_t t = 0; t < count; ++t)
        frozen.logprobs[t] = sample.old_logprobs[t] + sample.logprobs[t] - samples[s].logprobs[t] +
                             shared_log_ratio(config.policy.ratio_level, sequences, samples, s, t);
      std::vector<double> ignored(count), also_ignored(count);
      sample_loss(sample, token_weights[s], by_token, others, ignored, also_ignored);
      sample_loss(frozen, token_weights[s], by_token, policy, ignored, also_ignored);
      first += count;
    }
    return others.loss - others.policy + policy.policy;
  };
  CHECK(computed.loss == doctest::Approx(loss()).epsilon(1e-5));
  const double clipped = computed.clipped_low + computed.clipped_high;
  CHECK((clipped > 0) == (config.policy.objective != PolicyObjective::sapo));
  CHECK(clipped < static_cast<double>(batch.targets.size()));
  for (const TensorSlot& tensor : layout.tensors()) {
    CAPTURE(tensor.name);
    const auto directions = random_values(15, tensor.size);
    double along = 0, product = 0, squares = 0;
    const double slope = reference::derivative(along, 1e-6, [&] {
      for (std::size_t i = 0; i < tensor.size; ++i)
        exact[tensor.offset + i] = weights[tensor.offset + i] + along * directions[i];
      return loss();
    });
    for (std::size_t i = 0; i < tensor.size; ++i) {
      const double gradient = gradients[tensor.offset + i];
      exact[tensor.offset + i] = weights[tensor.offset + i];
      product += gradient * directions[i];
      squares += gradient * gradient;
    }
    CHECK(squares > 0);
    CHECK(std::abs(product - slope) < 1e-4 * std::sqrt(squares));
  }
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

TEST_CASE("gradients of every policy loss match finite differences of a double-precision model on both engines") {
  LossConfig fused;
  fused.policy.clip_low = fused.policy.clip_high = 0.02;
  fused.policy.entropy_coefficient = 0.2;
  fused.kl = {0.3, KlEstimator::k2, KlPlacement::loss, ""};
  REQUIRE(is_fused(fused));
  LossConfig unfused = fused;
  unfused.policy.entropy_tokens = EntropyTokens::reasoning;
  unfused.policy.log_ratio_penalty = 0.1;
  unfused.policy.likelihood_coefficient = 0.4;
  unfused.policy.cross_entropy_coefficient = 0.3;
  unfused.correction = {CorrectionWeights::truncate, CorrectionLevel::sequence, 0.9, 1.2};
  for (const std::string device : {"cpu", "cuda:0"}) {
    CAPTURE(device);
    check_policy_pass(device, fused);
    LossConfig config = unfused;
    for (const auto level : {RatioLevel::turn, RatioLevel::sequence, RatioLevel::trajectory}) {
      CAPTURE(static_cast<int>(level));
      config.policy.ratio_level = level;
      check_policy_pass(device, config);
    }
    config = unfused;
    config.policy.clip_low = config.policy.clip_high = 1e-5;  // of probabilities, which are small
    for (const auto objective : {PolicyObjective::sapo, PolicyObjective::dppo}) {
      CAPTURE(static_cast<int>(objective));
      config.policy.objective = objective;
      check_policy_pass(device, config);
    }
  }
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
