#include <doctest/doctest.h>

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

// One iteration's update on the tiny policy's own rollout, with advantages +1 and -1 in turn.
Updated update(const RunConfig& config, const std::filesystem::path& folder, double scale = 1) {
  auto state = tiny_state(config, folder);
  const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
  const auto specs = training_episodes(config, 1);
  const RolloutRequest request{
      specs, state->playground.rules, state->playground.prototypes, {}, {config.seed, RandomStream::train_sampling}, 1,
      {}};
  const auto episodes = run_rollout(*generator, request);
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes) {
    const double advantage = sequences.size() % 2 == 0 ? scale : -scale;
    Sequence& sequence = sequences.emplace_back(make_sequence(episode));
    sequence.advantages.assign(sequence.targets.size(), advantage);
    sequence.values.assign(sequence.targets.size(), 0.0f);
    sequence.returns.assign(sequence.targets.size(), advantage);
  }
  if (state->replica.critic) state->replica.critic->start_from(*state->replica.policy);
  auto result = update_policy(config, state->replica, 1, sequences, [](int, int) {});
  Updated updated{state_of(state->replica.policy->trained()), {}, std::move(result)};
  if (state->replica.critic) updated.critic_weights = state_of(state->replica.critic->trained());
  return updated;
}

}  // namespace

TEST_CASE("micro-batches and threads change no bit of an update") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  const auto reference = update(config, folder.path());
  config.optimizer.micro_batch_tokens = 100;
  CHECK(update(config, folder.path()).weights == reference.weights);
  config.threads = 3;
  CHECK(update(config, folder.path()).weights == reference.weights);
}

TEST_CASE("micro-batches, threads and instruction sets change no bit of a critic, nor does a critic of its policy") {
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
    CHECK(reference.result.metrics.at(std::string(metric::critic_grad_norm)) > 0);
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

TEST_CASE("a critic learns what the episodes return") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.advantage.estimator = AdvantageEstimator::gae;
  config.critic = {CriticModel::full, 1e-3, 0, 1, 0};
  config.policy_loss.mini_batch = 12;
  config.policy_loss.epochs = 20;
  const auto losses = update(config, folder.path()).result.updates.at("critic/loss");
  CHECK(losses.front() == doctest::Approx(0.5));  // half of 1 squared: it expects nothing at first
  CHECK(losses.back() < 0.7 * losses.front());
}

TEST_CASE("an update takes one step a mini-batch and epoch, and its first ratio is exactly 1") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.policy_loss.epochs = 2;
  const auto updated = update(config, folder.path());
  CHECK(updated.result.updates.at("actor/grad_norm").size() == 6);  // 12 episodes, 4 a mini-batch, twice
  for (const auto name : {metric::rollout_logprob_gap, metric::rollout_logprob_gap_max, metric::rollout_logprob_gap_kl})
    CHECK(updated.result.metrics.at(std::string(name)) == 0);
  CHECK(updated.result.metrics.at(std::string(metric::actor_grad_norm)) > 0);
  CHECK(updated.result.metrics.at(std::string(metric::actor_ratio_max)) > 1);  // of the later steps
  config.policy_loss.epochs = 1;
  config.policy_loss.mini_batch = 12;
  CHECK(update(config, folder.path()).result.metrics.at(std::string(metric::actor_ratio_max)) == 1);
}

TEST_CASE("without advantages and entropy bonus only weight decay moves the weights") {
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

TEST_CASE("an environment that is only validated has no part in the length that fixed_length divides by") {
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

TEST_CASE(
    "every mini-batch of a mixed run holds its share of each environment, and one environment's groups stay in order") {
  // "a0 a0 a1 a1": environment and group of each sequence.
  const auto mixed = [](const std::vector<int>& environments) {
    std::vector<Episode> episodes;
    for (std::size_t g = 0; g < environments.size(); ++g)
      for (int member = 0; member < 2; ++member)
        episodes.emplace_back().spec = {environments[g], static_cast<int>(g), member, 0, std::nullopt};
    std::vector<Sequence> sequences;
    for (const Episode& episode : episodes) sequences.push_back(make_sequence(episode));
    mix_environments(sequences);
    std::string text;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const EpisodeSpec& spec = sequences[i].episode->spec;
      CHECK(spec.member == static_cast<int>(i % 2));
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
