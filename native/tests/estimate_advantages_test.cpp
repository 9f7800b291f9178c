#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "algorithm/advantage.h"
#include "algorithm/objectives.h"
#include "journal/metric_names.h"
#include "rollout/rollout.h"
#include "tiny_policy.h"
#include "train/context/levels.h"
#include "train/update/estimate_advantages.h"

using namespace starpo;
using namespace starpo::test;

namespace {

struct AdvantageFixture {
  TemporaryFolder folder, other;
  RunConfig config = small_run_config();
  std::unique_ptr<TrainerState> state;
  std::vector<Episode> episodes;
  Metrics metrics;
  std::function<double(std::size_t)> score = [](std::size_t i) { return static_cast<double>(i * i % 7); };
  std::function<std::vector<RewardTerm>(std::size_t)> terms = [](std::size_t) { return std::vector<RewardTerm>(); };

  AdvantageFixture() {
    make_tiny_model_folder(folder.path());
    make_tiny_model_folder(other.path(), 4);
  }

  // Uses a rollout of the tiny policy with made-up scores and another tiny policy as reference.
  std::vector<Sequence> estimate(const std::vector<bool>& kept) {
    state = tiny_state(config, folder.path());
    if (state->replica.critic) state->replica.critic->initialize_from(*state->replica.policy);
    if (state->replica.reference) load_weights(other.path(), *state->replica.reference);
    const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
    const auto specs = training_episodes(config, 1);
    episodes = run_rollout(*generator, {specs,
                                        state->playground.rules,
                                        state->playground.prototypes,
                                        {},
                                        {config.seed, RandomStream::train_sampling},
                                        1,
                                        {}});
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      for (Turn& turn : episodes[i].turns) turn.score = 0, turn.terms.clear();
      episodes[i].turns.front().terms = terms(i);
      episodes[i].score = episodes[i].turns.back().score = score(i);
      episodes[i].success = score(i) > 0;
    }
    metrics.clear();
    return estimate_advantages(config, state->replica, episodes, kept, metrics, [] {});
  }

  double metric_of(std::string_view name) const { return metrics.at(std::string(name)); }
};

}  // namespace

TEST_CASE_FIXTURE(AdvantageFixture,
                  "the gate drops groups whose advantages are all small, and log-probabilities are reported by sign of "
                  "the advantage") {
  config.advantage.estimator = AdvantageEstimator::dr_grpo;
  // Groups of four; one episode of each scores 0, 0.2 or 2, the others 0.
  score = [](std::size_t i) { return i % 4 == 0 ? std::array{0.0, 0.2, 2.0}[i / 4] : 0.0; };
  const auto groups_above = [&](double gate) {
    config.advantage.gate = gate;
    std::set<int> groups;
    for (const Sequence& sequence : estimate({true, true, true})) groups.insert(sequence.episode->spec.group);
    return groups;
  };
  CHECK(groups_above(0) == std::set{0, 1, 2});
  CHECK_FALSE(metrics.contains(std::string(metric::kFilterGatedGroups)));
  CHECK(groups_above(0.01) == std::set{1, 2});
  CHECK(groups_above(0.5) == std::set{2});
  CHECK(metric_of(metric::kFilterGatedGroups) == 2);
  const auto sequences = estimate({true, true, true});
  double sum = 0, tokens = 0;
  for (const Sequence& sequence : sequences) {
    if (sequence.advantages.front() <= 0) continue;
    for (const float logprob : sequence.rollout_logprobs) sum += logprob;
    tokens += static_cast<double>(sequence.rollout_logprobs.size());
  }
  CHECK(metric_of(metric::kAdvantageLogprobPositive) == doctest::Approx(sum / tokens));
  CHECK(groups_above(100).empty());
}

TEST_CASE_FIXTURE(AdvantageFixture,
                  "with a new critic and gamma and lambda 1, each token's advantage is the episode's score") {
  config.advantage = {AdvantageEstimator::gae, 1, 1, false};
  for (const CriticModel kind : {CriticModel::full, CriticModel::head}) {
    config.critic.model = kind;
    const auto sequences = estimate({true, false, true});
    REQUIRE(sequences.size() == 8);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const double score = episodes[i < 4 ? i : i + 4].score;
      REQUIRE(sequences[i].values.size() == sequences[i].targets.size());
      for (const double advantage : sequences[i].advantages) CHECK(advantage == score);
      for (const double target : sequences[i].value_targets) CHECK(target == score);
    }
    CHECK(metric_of(metric::kCriticValueMean) == 0);
    CHECK(metric_of(metric::kCriticExplainedVariance) == 0);
  }
}

TEST_CASE_FIXTURE(
    AdvantageFixture,
    "an advantage subtracts the in-reward KL of its token and the later ones, after group normalization") {
  config.kl = {0.5, KlEstimator::k1, KlPlacement::reward, ""};
  config.advantage = {AdvantageEstimator::grpo, 1, 1, false};
  const auto sequences = estimate({true, true, true});
  std::vector<double> group_relative;
  for (const auto group : groups_of(episodes)) {
    CHECK(group.size() == 4);
    for (const double advantage : group_advantages(scores_of(group), AdvantageEstimator::grpo))
      group_relative.push_back(advantage);
  }
  double sum = 0, tokens = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    double penalty = 0;
    for (std::size_t t = sequence.targets.size(); t-- > 0;) {
      const double estimate = static_cast<double>(sequence.rollout_logprobs[t]) - sequence.reference_logprobs[t];
      penalty += 0.5 * estimate;
      sum += estimate;
      CHECK(sequence.advantages[t] == doctest::Approx(group_relative[i] - penalty));
    }
    tokens += static_cast<double>(sequence.targets.size());
  }
  CHECK(metric_of(metric::kActorKlToReference) == doctest::Approx(sum / tokens));
}

TEST_CASE_FIXTURE(AdvantageFixture, "KL in the loss does not change advantages") {
  config.advantage = {AdvantageEstimator::dr_grpo, 1, 1, false};
  const auto plain = estimate({true, true, true});
  CHECK_FALSE(metrics.contains(std::string(metric::kActorKlToReference)));
  config.kl = {0.5, KlEstimator::k3, KlPlacement::loss, ""};
  const auto with_kl = estimate({true, true, true});
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(with_kl[i].advantages == plain[i].advantages);
  CHECK(metric_of(metric::kActorKlToReference) > 0);
}

TEST_CASE_FIXTURE(AdvantageFixture, "advantages are whitened over the tokens of kept trajectories") {
  config.advantage = {AdvantageEstimator::gae, 1, 1, true};
  config.critic.model = CriticModel::full;
  double sum = 0, squares = 0, tokens = 0;
  for (const Sequence& sequence : estimate({true, false, true}))
    for (const double advantage : sequence.advantages) sum += advantage, squares += advantage * advantage, ++tokens;
  CHECK(sum / tokens == doctest::Approx(0).epsilon(1e-9));
  CHECK(squares / (tokens - 1) == doctest::Approx(1));
  CHECK(metric_of(metric::kAdvantageStd) != doctest::Approx(1));  // the std before whitening
}

TEST_CASE_FIXTURE(
    AdvantageFixture,
    "a group with zero reward std has no active tokens with group-relative advantages, but may have with others") {
  score = [](std::size_t i) { return i < 4 ? 1.0 : i < 8 ? static_cast<double>(i % 2) : i == 8 ? 3.0 : 0.0; };
  config.advantage = {AdvantageEstimator::rloo, 1, 1, false};
  const auto plain = estimate({true, true, true});
  double active = 0, tokens = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    active += i < 4 ? 0.0 : static_cast<double>(plain[i].targets.size());
    tokens += static_cast<double>(plain[i].targets.size());
  }
  CHECK(metric_of(metric::kAdvantageActiveShare) == doctest::Approx(active / tokens));
  CHECK(metric_of(metric::kAdvantageZeroStdShare) == 0);

  config.advantage = {AdvantageEstimator::gae, 1, 1,
                      true};  // before whitening, each token's advantage is its episode's score
  config.critic.model = CriticModel::head;
  double without = 0, all = 0;
  const auto whitened = estimate({true, true, true});
  for (std::size_t i = 0; i < whitened.size(); ++i)
    for (const double advantage : whitened[i].advantages)
      all += std::abs(advantage), without += i < 4 ? std::abs(advantage) : 0;
  CHECK(without > 0);
  CHECK(metric_of(metric::kAdvantageZeroStdShare) == doctest::Approx(without / all));

  config.advantage = {AdvantageEstimator::grpo, 1, 1, false};
  config.critic.model = CriticModel::none;
  score = [](std::size_t) { return 1.0; };
  estimate({true, true, true});
  CHECK(metric_of(metric::kAdvantageActiveShare) == 0);
  CHECK_FALSE(metrics.contains(std::string(metric::kAdvantageZeroStdShare)));
}

TEST_CASE_FIXTURE(AdvantageFixture, "baselines train the critic at the first token of the episode or of each turn") {
  config.critic.model = CriticModel::head;
  config.critic.value_clip = 0;
  for (const auto estimator : {AdvantageEstimator::trajectory_baseline, AdvantageEstimator::turn_baseline}) {
    config.advantage = {estimator, 1, 1, false};
    const auto sequences = estimate({true, true, true});
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto count = static_cast<std::size_t>(std::ranges::count(sequences[i].value_mask, true));
      CHECK(count == (estimator == AdvantageEstimator::turn_baseline ? episodes[i].turns.size() : 1));
      CHECK(sequences[i].value_mask.front());
      for (const double advantage : sequences[i].advantages) CHECK(advantage == episodes[i].score);
    }
  }
}

TEST_CASE_FIXTURE(AdvantageFixture, "a replayed group has its stored log-probabilities and is compared within itself") {
  config.advantage = {AdvantageEstimator::grpo, 1, 1, false};
  const auto sampled = estimate({true, true, true});
  ReplayBuffer buffer;
  buffer.add(1, replay_groups(1, sampled), {3, 0.5});
  const int fresh_groups[] = {1};
  config.replay = {3, 0.5};
  const ReplayedGroups replayed{3, buffer.draw(config, 3, fresh_groups, 3)};
  REQUIRE(replayed.groups.size() == 1);
  const auto sequences =
      estimate_advantages(config, state->replica, episodes, {true, false, false}, metrics, [] {}, replayed);
  REQUIRE(sequences.size() == 8);
  CHECK(sequences[3].staleness == 0);
  const auto original = std::ranges::find_if(
      sampled, [&](const Sequence& each) { return each.rollout_logprobs == sequences[4].rollout_logprobs; });
  REQUIRE(sampled.end() - original >= 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const Sequence &own = sequences[i + 4], &expected = *(original + static_cast<std::ptrdiff_t>(i));
    CHECK(own.staleness == 2);
    CHECK(own.episode->spec.group == 3);
    CHECK(own.advantages == expected.advantages);
    CHECK(own.rollout_logprobs == expected.rollout_logprobs);
    CHECK(pack({&own, 1}).tokens == pack({&expected, 1}).tokens);
  }
}

TEST_CASE_FIXTURE(AdvantageFixture, "the cross-entropy is over the tokens of successful episodes") {
  score = [](std::size_t i) { return i % 3 == 0 ? 1.0 : 0.0; };
  for (const Sequence& sequence : estimate({true, true, true})) CHECK(sequence.imitation.empty());
  config.policy_loss.cross_entropy_coefficient = 0.1;
  for (const Sequence& sequence : estimate({true, true, true}))
    CHECK(sequence.imitation == std::vector<double>(sequence.episode->success ? sequence.targets.size() : 0, 1));
}

TEST_CASE_FIXTURE(AdvantageFixture, "each recorded reward term is normalized, weighted by its option and added") {
  config.advantage = {AdvantageEstimator::dr_grpo, 1, 1, false};
  config.reward.normalization = RewardNormalization::mean_std;
  config.reward.normalize_terms = true;
  config.reward.environment_weight = 3;
  config.reward.format_penalty = -0.5;
  terms = [](std::size_t i) {
    return std::vector<RewardTerm>{{"environment", i % 4 == 0 ? 3.0 : 0.0}, {"format", i % 4 == 1 ? -0.5 : 0.0}};
  };
  // One of four differs by d: its distance from the mean is 3/4 d, the others' 1/4 d, and the std is d/2.
  const double expected[] = {3 * 1.5 + 0.5 * 0.5, -3 * 0.5 - 0.5 * 1.5, -3 * 0.5 + 0.5 * 0.5, -3 * 0.5 + 0.5 * 0.5};
  const auto sequences = estimate({true, true, true});
  REQUIRE(sequences.size() == 12);
  for (std::size_t i = 0; i < sequences.size(); ++i)
    for (const double advantage : sequences[i].advantages)
      CHECK(advantage == doctest::Approx(expected[i % 4]).epsilon(1e-5));

  // Centered terms add up to the centered score, so their weights count once.
  config.reward.normalization = RewardNormalization::mean;
  score = [](std::size_t i) { return std::array{3.0, -0.5, 0.0, 0.0}[i % 4]; };
  const auto centered = estimate({true, true, true});
  REQUIRE(centered.size() == 12);
  for (std::size_t i = 0; i < centered.size(); ++i)
    for (const double advantage : centered[i].advantages) CHECK(advantage == doctest::Approx(score(i) - 0.625));
}

TEST_CASE_FIXTURE(AdvantageFixture, "normalized scores replace raw ones before the estimator") {
  config.advantage = {AdvantageEstimator::reinforce_plus_plus, 1, 1, false};
  config.reward.normalization = RewardNormalization::mean;
  config.reward.normalize_by = NormalizationScope::batch;
  const auto sequences = estimate({true, true, true});
  double center = 0;
  for (const Episode& episode : episodes) center += episode.score / static_cast<double>(episodes.size());
  for (std::size_t i = 0; i < sequences.size(); ++i)
    for (const double advantage : sequences[i].advantages)
      CHECK(advantage == doctest::Approx(episodes[i].score - center));
}
