#include <doctest/doctest.h>

#include <functional>

#include "engine/cpu/kernels/bf16_kernels.h"
#include "journal/metric_names.h"
#include "model_fixtures.h"
#include "rollout/rollout.h"
#include "tiny_policy.h"
#include "train/context/levels.h"
#include "train/update/policy_update.h"

using namespace starpo;
using namespace starpo::test;

namespace {

struct Updated {
  std::vector<float> weights, critic_weights;
  UpdateResult result;
};

// One update on a rollout of the tiny policy, with alternating advantages +1 and -1, times `scale`.
Updated update(const RunConfig& config, const std::filesystem::path& folder,
               const std::function<double(std::size_t)>& scale) {
  auto state = tiny_state(config, folder);
  const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
  const auto specs = training_episodes(config, 1);
  const RolloutRequest request{
      specs, state->playground.rules, state->playground.prototypes, {}, {config.seed, RandomStream::train_sampling}, 1,
      {}};
  const auto episodes = run_rollout(*generator, request);
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes) {
    const double sign = sequences.size() % 2 == 0 ? 1 : -1, advantage = sign * scale(sequences.size());
    Sequence& sequence = sequences.emplace_back(make_sequences(episode).front());
    sequence.advantages.assign(sequence.targets.size(), advantage);
    sequence.values.assign(sequence.targets.size(), 0.0f);
    sequence.value_targets.assign(sequence.targets.size(), advantage);
    sequence.value_mask.assign(sequence.targets.size(), true);
  }
  if (state->replica.critic) state->replica.critic->initialize_from(*state->replica.policy);
  auto result = update_policy(config, state->replica, 1, sequences, [](int, int) {});
  Updated updated{state_of(state->replica.policy->trained()), {}, std::move(result)};
  if (state->replica.critic) updated.critic_weights = state_of(state->replica.critic->trained());
  return updated;
}

Updated update(const RunConfig& config, const std::filesystem::path& folder, double scale = 1) {
  return update(config, folder, [scale](std::size_t) { return scale; });
}

}  // namespace

TEST_CASE("micro-batches and threads do not change any bit of an update") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  const auto reference = update(config, folder.path());
  config.optimizer.micro_batch_tokens = 100;
  CHECK(update(config, folder.path()).weights == reference.weights);
  config.threads = 3;
  CHECK(update(config, folder.path()).weights == reference.weights);
}

TEST_CASE(
    "micro-batches, threads and instruction sets do not change any bit of a critic, nor a critic any bit of its "
    "policy") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  const auto alone = update(config, folder.path());
  config.advantage.estimator = AdvantageEstimator::gae;
  for (const CriticModel kind : {CriticModel::full, CriticModel::head}) {
    config.critic.model = kind;
    config.threads = 1;
    config.optimizer.micro_batch_tokens = 4096;
    const auto reference = update(config, folder.path());
    CHECK(reference.weights == alone.weights);
    CHECK(reference.result.metrics.at(std::string(metric::kCriticGradNorm)) > 0);
    config.threads = 3;
    config.optimizer.micro_batch_tokens = 100;
    for (const Isa isa : supported_isas()) {
      CAPTURE(isa_name(isa));
      const WithIsa selected(isa);
      CHECK(update(config, folder.path()).critic_weights == reference.critic_weights);
    }
    if (bf16_kernels() == nullptr) continue;
    RunConfig bf16 = config;
    bf16.precision = "bf16";
    const auto split = update(bf16, folder.path());
    bf16.threads = 1;
    bf16.optimizer.micro_batch_tokens = 4096;
    const auto whole = update(bf16, folder.path());
    CHECK(split.critic_weights == whole.critic_weights);
    CHECK(split.weights == whole.weights);
    CHECK(whole.critic_weights != reference.critic_weights);
  }
}

TEST_CASE("a critic learns the returns of the episodes") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.advantage.estimator = AdvantageEstimator::gae;
  config.critic = {CriticModel::full, 1e-3, 0, 1, 0};
  config.policy_loss.mini_batch = 12;
  config.policy_loss.epochs = 20;
  const auto losses = update(config, folder.path()).result.updates.at("critic/loss");
  CHECK(losses.front() == doctest::Approx(0.5));  // half of 1 squared, since the initial value is 0
  CHECK(losses.back() < 0.7 * losses.front());
}

TEST_CASE("an update takes one step per mini-batch and epoch, and its first ratio is exactly 1") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.epochs = 2;
  const auto updated = update(config, folder.path());
  CHECK(updated.result.updates.at("actor/grad_norm").size() == 6);  // 12 episodes in mini-batches of 4, two epochs
  for (const auto name : {metric::kRolloutLogprobGap, metric::kRolloutLogprobGapMax, metric::kRolloutLogprobGapKl})
    CHECK(updated.result.metrics.at(std::string(name)) == 0);
  CHECK(updated.result.metrics.at(std::string(metric::kActorGradNorm)) > 0);
  CHECK(updated.result.metrics.at(std::string(metric::kActorRatioMax)) > 1);  // in later steps
  config.policy_loss.epochs = 1;
  config.policy_loss.mini_batch = 12;
  CHECK(update(config, folder.path()).result.metrics.at(std::string(metric::kActorRatioMax)) == 1);
}

TEST_CASE("in the first step, every objective and ratio level is bit-identical to PPO and reports its terms") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.mini_batch = 12;
  const auto fused = update(config, folder.path());
  const auto is_equal = [&] { return update(config, folder.path()).weights == fused.weights; };
  for (const auto objective : {PolicyObjective::cispo, PolicyObjective::sapo, PolicyObjective::dppo}) {
    config.policy_loss.objective = objective;
    CHECK(is_equal());
  }
  config.policy_loss.objective = PolicyObjective::clip;
  for (const auto level : {RatioLevel::turn, RatioLevel::sequence, RatioLevel::trajectory}) {
    config.policy_loss.ratio_level = level;
    CHECK(is_equal());
  }
  config.correction.weights = CorrectionWeights::mask;
  config.correction.high = 2;
  config.policy_loss.log_ratio_penalty = config.policy_loss.likelihood_coefficient = 0.1;
  config.policy_loss.cross_entropy_coefficient = 0.1;
  config.policy_loss.epochs = 3;
  const auto metrics = update(config, folder.path()).result.metrics;
  const auto metric_of = [&](std::string_view name) { return metrics.at(std::string(name)); };
  CHECK(metric_of(metric::kCorrectionMaskedPositive) == 0);  // the rollout is the policy's own
  CHECK(metric_of(metric::kCorrectionEffectiveSampleSize) == doctest::Approx(1));
  CHECK(metric_of(metric::kCorrectionChi2) == doctest::Approx(0));
  CHECK(metric_of(metric::kActorLossLogRatio) > 0);  // of later epochs
  CHECK(metric_of(metric::kActorLoss) ==
        doctest::Approx(metric_of(metric::kActorLossPolicy) + metric_of(metric::kActorLossEntropy) +
                        metric_of(metric::kActorLossLogRatio) + metric_of(metric::kActorLossLikelihood) +
                        metric_of(metric::kActorLossCrossEntropy)));
}

TEST_CASE("episodes without any advantage are skipped, which changes no bit of the update") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.entropy_coefficient = 0;
  config.policy_loss.epochs = 2;
  const auto with_every_third = [&](double scale) {
    return update(config, folder.path(), [scale](std::size_t i) { return i % 3 == 0 ? scale : 1; });
  };
  const auto skipped_share = [](const Updated& updated) {
    return updated.result.metrics.at(std::string(metric::kActorSkippedShare));
  };
  const auto skipped = with_every_third(0), passed = with_every_third(1e-300);  // a gradient that is 0 in float
  CHECK(skipped_share(skipped) == doctest::Approx(1.0 / 3));
  CHECK(skipped_share(passed) == 0);
  CHECK(skipped.weights == passed.weights);
  config.policy_loss.entropy_coefficient = 0.01;  // acts on every token
  CHECK(skipped_share(with_every_third(0)) == 0);
}

TEST_CASE("without advantages and entropy bonus, only weight decay changes the weights") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.entropy_coefficient = 0;
  config.optimizer.weight_decay = 0;
  const auto still = update(config, folder.path(), 0);
  CHECK(still.weights == update(config, folder.path(), 0).weights);
  const auto state = tiny_state(config, folder.path());
  CHECK(still.weights == state_of(state->replica.policy->trained()));
  CHECK(update(config, folder.path(), 1).weights != still.weights);
}

TEST_CASE("an environment used only for validation does not affect the length of fixed_length") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.average = LossAverage::fixed_length;
  const auto alone = update(config, folder.path());
  config.environments.push_back(config.environments[0]);
  config.environments[1].label = "validated";
  config.environments[1].share = 0;
  config.environments[1].max_turns = 50;
  CHECK(update(config, folder.path()).weights == alone.weights);
}

TEST_CASE("every mini-batch has a share of each environment, and groups of an environment keep their order") {
  // Returns environment and group of each group of sequences: "a0 a1".
  const auto mixed = [](const std::vector<int>& environments) {
    std::vector<Episode> episodes;
    for (std::size_t g = 0; g < environments.size(); ++g)
      for (int i = 0; i < 2; ++i)
        episodes.emplace_back().spec = {environments[g], static_cast<int>(g), i, 0, std::nullopt};
    std::vector<Sequence> sequences;
    for (Episode& episode : episodes) episode.turns.resize(1);
    for (const Episode& episode : episodes) sequences.push_back(make_sequences(episode).front());
    mix_environments(sequences);
    std::string text;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const EpisodeSpec& spec = sequences[i].episode->spec;
      CHECK(spec.index_in_group == static_cast<int>(i % 2));
      if (i % 2 == 0)
        text += std::string(text.empty() ? "" : " ") + "abc"[spec.environment] + std::to_string(spec.group);
    }
    return text;
  };
  CHECK(mixed({0, 0, 0}) == "a0 a1 a2");
  CHECK(mixed({0, 0, 0, 1, 1, 1}) == "a0 b3 a1 b4 a2 b5");
  CHECK(mixed({0, 0, 0, 0, 0, 0, 1, 1}) == "a0 a1 b6 a2 a3 a4 b7 a5");
  CHECK(mixed({0, 1, 2}) == "a0 b1 c2");
  CHECK(mixed({}) == "");
}
