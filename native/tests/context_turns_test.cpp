#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "algorithm/advantage.h"
#include "rollout/rollout.h"
#include "tiny_policy.h"
#include "tiny_run.h"
#include "train/context/levels.h"
#include "train/update/estimate_advantages.h"
#include "train/update/policy_pass.h"
#include "train/update/replay_buffer.h"
#include "train/warm_start/warm_start.h"

// rollout.context_turns: contexts of the last turns, and episodes with several samples.
using namespace starpo;
using namespace starpo::test;

namespace {

using Ids = std::vector<std::int32_t>;

// Tiny episodes of up to five turns. A frozen tiny policy solves no level.
RunConfig window_config(int context_turns) {
  RunConfig config = small_run_config();
  config.rollout.context_turns = context_turns;
  config.reward.length_cost = 1;  // so that rewards differ
  return config;
}

struct Played {
  TemporaryFolder folder;
  std::unique_ptr<TrainerState> state;
  std::vector<Episode> episodes;

  explicit Played(const RunConfig& config, int slots = 5) {
    make_tiny_model_folder(folder.path());
    state = tiny_state(config, folder.path());
    if (state->replica.critic) state->replica.critic->initialize_from(*state->replica.policy);
    const auto generator = state->replica.policy->make_generator(slots, config.rollout.context);
    const auto specs = training_episodes(config, 1);
    episodes = run_rollout(*generator, {specs,
                                        state->playground.rules,
                                        state->playground.prototypes,
                                        training_sampling(config.rollout),
                                        {config.seed, RandomStream::train_sampling},
                                        1,
                                        {}});
  }
};

void check_same_turn(const Turn& a, const Turn& b) {
  CHECK(a.ids == b.ids);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.context_ids == b.context_ids);
  CHECK(a.begins_context == b.begins_context);
}

// Compares the first `turns` of each episode.
void check_same_start(const std::vector<Episode>& a, const std::vector<Episode>& b, std::size_t turns) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t t = 0; t < std::min({turns, a[i].turns.size(), b[i].turns.size()}); ++t)
      check_same_turn(a[i].turns[t], b[i].turns[t]);
}

void check_same(const std::vector<Episode>& a, const std::vector<Episode>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].turns.size() == b[i].turns.size());
    for (std::size_t t = 0; t < a[i].turns.size(); ++t) check_same_turn(a[i].turns[t], b[i].turns[t]);
  }
}

}  // namespace

TEST_CASE("a context has the system message, the last turns and the current state, with the sampled ids") {
  RunConfig config = window_config(2);
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  config.environments[0].prompt = {"Rules.", "first {turn} ({reward}, {actions_left} left)\n{state}",
                                   "next {turn} ({reward})\n{state}"};
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const auto play = [&](const std::function<void(const ChatFormat&, const Tokenizer&, const Episode&)>& check) {
    const auto state = tiny_state(config, folder.path());
    const auto& [tokenizer, chat] = std::tie(state->playground.tokenizer, state->playground.chat);
    EpisodePlayer player(state->playground.rules[0], state->playground.prototypes[0]->clone(), {0, 0, 0, 0, {}});
    CHECK(player.begins_context());
    while (!player.finished()) {
      // The second response has no turn end, so a context that contains it repairs it.
      const bool cut = player.episode().turns.size() == 2;
      Ids ids = tokenizer.encode(cut ? std::string(400, 'x') : "</think><answer>Up</answer>");
      ids.resize(std::min<std::size_t>(ids.size(), 100));
      if (!cut) ids.push_back(chat.turn_end());
      for (const auto id : ids) player.accept(id, -1, 1);
    }
    check(chat, tokenizer, player.episode());
  };
  play([](const ChatFormat& chat, const Tokenizer& tokenizer, const Episode& episode) {
    REQUIRE(episode.turns.size() == 5);
    const auto begins = [&](std::size_t t) { return episode.turns[t].begins_context; };
    CHECK((begins(0) && !begins(1) && begins(2) && begins(3) && begins(4)));
    for (std::size_t t = 2; t < 5; ++t) {
      const Turn &last = episode.turns[t - 1], &current = episode.turns[t];
      const auto number = [](std::size_t turn) { return std::to_string(turn + 1); };
      const int executed = static_cast<int>(t > 2 ? t - 2 : t - 1);  // before the last turn; the second has no action
      Ids expected = chat.first_turn(
          "Rules.", "first " + number(t - 1) + " (0, " + std::to_string(10 - executed) + " left)\n" + last.state);
      expected.insert(expected.end(), last.ids.begin(), last.ids.end());
      const Ids next = chat.next_turn("next " + number(t) + " (0)\n" + current.state, t == 2);
      expected.insert(expected.end(), next.begin(), next.end());
      CAPTURE(tokenizer.decode(current.context_ids));
      CHECK(current.context_ids == expected);
    }
    CHECK(make_sequences(episode).size() == 4);
    CHECK(make_sequences(episode)[0].turns.size() == 2);
    CHECK(make_sequences(episode)[2].first_turn() == 3);
  });
  config.rollout.context_turns = 1;
  config.environments[0].max_state_tokens = 3;
  play([](const ChatFormat& chat, const Tokenizer& tokenizer, const Episode& episode) {
    for (const Turn& turn : episode.turns) {
      CHECK(turn.begins_context);
      CHECK(turn.omitted_tokens > 0);
      CHECK(turn.context_ids.front() == chat.first_turn("Rules.", "").front());
      CHECK(tokenizer.decode(turn.context_ids).find("next") == std::string::npos);
    }
    CHECK(make_sequences(episode).size() == 5);
  });
}

TEST_CASE("later contexts contain the task if the first message has {first_state}, and a warning names a hidden task") {
  RunConfig config = window_config(1);
  EnvironmentConfig& shop = config.environments[0];
  shop.type = "webshop";
  shop.config = R"({"catalogue":"synthetic:1000:1","observation_mode":"text","human_goals":false,"show_attrs":false,
                    "price_seed":0,"wrapper":"compact","split":"auto"})";
  shop.max_turns = 3;
  shop.max_state_tokens = 0;
  const auto warnings = [&] {
    return std::ranges::count_if(run_config_warnings(config), [](const std::string& warning) {
      return warning.find("hides the task") != std::string::npos;
    });
  };
  shop.prompt = {"", "{state}", "{state}"};
  CHECK(warnings() == 1);
  config.rollout.context_turns = 3;
  CHECK(warnings() == 0);
  config.rollout.context_turns = 1;
  shop.prompt.first = "{first_state}\n{state}";
  CHECK(warnings() == 0);
  config.rollout.context = 1000;
  config.rollout.max_response_tokens = 100;
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const auto state = tiny_state(config, folder.path());
  const auto& [tokenizer, chat] = std::tie(state->playground.tokenizer, state->playground.chat);
  EpisodePlayer player(state->playground.rules[0], state->playground.prototypes[0]->clone(), {0, 0, 0, 0, {}});
  const std::string task = player.environment().observation();
  Ids ids = tokenizer.encode("</think><answer>search[snack bars]</answer>");
  ids.push_back(chat.turn_end());
  for (const auto id : ids) player.accept(id, -1, 1);
  REQUIRE(player.begins_context());
  CHECK(player.environment().observation() != task);
  CHECK(player.episode().turns[1].context_ids == chat.first_turn("", task + "\n" + player.environment().observation()));
}

TEST_CASE("rollout.context limits a context, so episodes with few turns in it can be longer") {
  RunConfig config = window_config(0);
  config.rollout.max_response_tokens = 2;
  const Played whole(config);
  const int prompt = static_cast<int>(whole.episodes[0].turns[0].context_ids.size());
  config.rollout.context = prompt + 2 + 10;
  for (const int turns : {0, 1}) {
    config.rollout.context_turns = turns;
    for (const Episode& episode : Played(config).episodes) {
      CHECK(episode.ended == (turns == 0 ? EndReason::context : EndReason::max_turns));
      for (const Sequence& sequence : make_sequences(episode)) CHECK(sequence.tokens() <= config.rollout.context);
    }
  }
  config.rollout.context_turns = 2;
  for (const Episode& episode : Played(config).episodes) CHECK(episode.ended == EndReason::context);
}

TEST_CASE("results do not depend on slots, and turns before the first new context equal those of the whole episode") {
  const Played whole(window_config(0));
  for (const int turns : {1, 2, 5, 100}) {
    CAPTURE(turns);
    const Played played(window_config(turns));
    check_same(played.episodes, Played(window_config(turns), 1).episodes);
    check_same(played.episodes, Played(window_config(turns), 128).episodes);
    // Contexts of as many turns as the episode are the whole episode.
    check_same_start(played.episodes, whole.episodes, static_cast<std::size_t>(turns));
    std::size_t samples = 0, expected = 0;
    for (const Episode& episode : played.episodes) {
      samples += make_sequences(episode).size();
      expected += 1 + std::max<std::size_t>(episode.turns.size(), turns) - static_cast<std::size_t>(turns);
    }
    CHECK(samples == expected);
    CHECK((samples > played.episodes.size()) == (turns < 5));
  }
}

TEST_CASE("turns with equal contexts sample different tokens") {
  RunConfig config = window_config(1);
  config.environments[0].prompt = {"", "Act.", "Act."};
  int compared = 0;
  for (const Episode& episode : Played(config).episodes)
    for (std::size_t t = 1; t < episode.turns.size(); ++t, ++compared) {
      CHECK(episode.turns[t].context_ids == episode.turns[0].context_ids);
      CHECK(episode.turns[t].ids != episode.turns[t - 1].ids);
    }
  CHECK(compared > 0);
}

TEST_CASE("the update's log-probabilities of every sample equal the rollout's bit for bit") {
  for (const int turns : {1, 2}) {
    const Played played(window_config(turns));
    const auto pass = played.state->replica.policy->make_pass();
    for (const Episode& episode : played.episodes) {
      std::size_t trained = 0;
      for (const Sequence& sequence : make_sequences(episode)) {
        const PackedBatch batch = pack({&sequence, 1});
        std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
        pass->forward(batch, 1, logprobs, entropies);
        CHECK(logprobs == sequence.rollout_logprobs);
        trained += logprobs.size();
      }
      CHECK(static_cast<int>(trained) == episode.sampled_tokens());
    }
  }
}

TEST_CASE("demonstrations of a warm start have the contexts of rollouts") {
  const RunConfig config = window_config(1);
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const auto state = tiny_state(config, folder.path());
  std::size_t later = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Episode episode = play_demonstration(state->config, state->playground, i);
    CHECK(make_sequences(episode).size() == episode.turns.size());
    later += episode.turns.size() - 1;
  }
  CHECK(later > 0);
}

TEST_CASE("advantages and value targets are those of whole episodes, however many samples they have") {
  using Estimator = AdvantageEstimator;
  RunConfig config = window_config(2);
  config.kl = {0.3, KlEstimator::k3, KlPlacement::reward, ""};
  for (const Estimator estimator :
       {Estimator::grpo, Estimator::gigpo, Estimator::reinforce_plus_plus, Estimator::gae, Estimator::bi_level_gae,
        Estimator::trajectory_baseline, Estimator::turn_baseline}) {
    CAPTURE(static_cast<int>(estimator));
    config.critic.model = uses_critic(estimator) ? CriticModel::head : CriticModel::none;
    config.advantage = {estimator, 0.9, 0.8, false};
    config.advantage.rewards = RewardPosition::turn;
    Played played(config);
    if (played.state->replica.critic)
      for (std::size_t i = 0; i < 64; ++i)
        change(played.state->replica.critic->trained(), StateVector::weights, i, 0.1f);
    Metrics metrics;
    const auto sequences = estimate_advantages(played.state->config, played.state->replica, played.episodes,
                                               {true, false, true}, metrics, [] {});
    const auto by_episode = sequences_by_episode(std::span(sequences));
    REQUIRE(by_episode.size() == 8);
    // An episode as the concatenation of its samples.
    std::vector<EpisodeRewards> rewards;
    for (const auto samples : by_episode) {
      const Episode& episode = *samples.front().episode;
      EpisodeRewards& own = rewards.emplace_back(EpisodeRewards{episode.spec.group, 0, {}, {}, {}, {}});
      for (const Turn& turn : episode.turns)
        own.turns.push_back({static_cast<int>(turn.ids.size()), turn.score, turn.state});
      for (const Sequence& sample : samples)
        for (std::size_t t = 0; t < sample.targets.size(); ++t) {
          const double difference = static_cast<double>(sample.reference_logprobs[t]) - sample.rollout_logprobs[t];
          own.kl_rewards.push_back(-0.3 * std::min(10.0, std::exp(difference) - 1 - difference));
          if (uses_critic(estimator)) own.values.push_back(sample.values[t]);
        }
    }
    const auto expected = token_advantages(rewards, config.advantage);
    for (std::size_t i = 0; i < by_episode.size(); ++i) {
      std::size_t at = 0;
      for (const Sequence& sample : by_episode[i])
        for (std::size_t t = 0; t < sample.targets.size(); ++t, ++at) {
          CHECK(sample.advantages[t] == doctest::Approx(expected[i].advantages[at]));
          if (!uses_critic(estimator)) continue;
          CHECK(sample.values[t] != 0);
          CHECK(sample.value_targets[t] == doctest::Approx(expected[i].value_targets[at]));
          CHECK(sample.value_mask[t] == expected[i].value_mask[at]);
        }
      CHECK(at == expected[i].advantages.size());
    }
  }
}

namespace {

// Log-probability of each trained token, whose ids are unique.
using Table = std::map<std::int32_t, double>;

// Returns log-probabilities from a table, and keeps the gradients that it receives.
class TablePass final : public NetworkPass {
 public:
  explicit TablePass(const Table& table) : table_(table) {}

  void forward(const PackedBatch& batch, float, std::span<float> logprobs, std::span<float> entropies) override {
    batch_ = batch;
    for (std::size_t t = 0; t < logprobs.size(); ++t)
      logprobs[t] = static_cast<float>(table_.at(batch.tokens[static_cast<std::size_t>(batch.targets[t])]));
    std::ranges::fill(entropies, 1.0f);
  }
  void forward_backward(const PackedBatch& batch, float temperature, const BatchLoss& loss, std::span<float> logprobs,
                        std::span<float> entropies, PolicyLossSums& sums) override {
    forward(batch, temperature, logprobs, entropies);
    std::vector<float> from_logprobs(logprobs.size()), from_entropies(logprobs.size());
    loss_gradients(batch, loss, logprobs, entropies, sums, from_logprobs, from_entropies);
    backward(from_logprobs, from_entropies);
  }
  void backward(std::span<const float> logprob_gradients, std::span<const float>) override {
    for (std::size_t t = 0; t < logprob_gradients.size(); ++t)
      gradients[batch_.tokens[static_cast<std::size_t>(batch_.targets[t])]] = logprob_gradients[t];
  }
  std::span<const float> features() const override { return {}; }
  void forward_values(const PackedBatch&, std::span<float>) override {}
  void backward_values(std::span<const float>) override {}

  Table gradients;

 private:
  const Table& table_;
  PackedBatch batch_;
};

// Three episodes with one to three samples of one or two turns, with unequal lengths.
std::vector<Episode> episodes_with_samples() {
  const std::vector<std::vector<std::pair<int, bool>>> turns{
      {{2, true}, {3, true}, {1, true}}, {{1, true}, {2, false}, {2, true}}, {{4, true}}};
  std::vector<Episode> episodes(turns.size());
  std::int32_t id = 100;
  for (std::size_t i = 0; i < turns.size(); ++i)
    for (const auto& [tokens, begins] : turns[i]) {
      Turn& turn = episodes[i].turns.emplace_back();
      turn.context_ids = {1, 2};
      turn.begins_context = begins;
      turn.think_tokens = 1;
      for (int t = 0; t < tokens; ++t) {
        turn.ids.push_back(id++);
        turn.logprobs.push_back(-1 - 0.01f * static_cast<float>(id % 7));
      }
    }
  return episodes;
}

// The loss from its equations in docs/algorithms.md, with ratios of several tokens frozen at `still`.
double restated_loss(const std::vector<Episode>& episodes, const std::map<std::int32_t, double>& advantages,
                     const Table& now, const Table& still, const PolicyLossConfig& config, int longest) {
  const auto log_ratio = [&](const Turn& turn, std::size_t t, const Table& table) {
    return table.at(turn.ids[t]) - turn.logprobs[t];
  };
  const auto sum_over = [&](std::span<const Turn> turns) {
    std::pair<double, double> sum;
    for (const Turn& turn : turns)
      for (std::size_t t = 0; t < turn.ids.size(); ++t) sum.first += log_ratio(turn, t, still), ++sum.second;
    return sum;
  };
  const auto mean_over = [&](std::span<const Turn> turns) {
    const auto [sum, count] = sum_over(turns);
    return sum / count;
  };
  double loss = 0, all_tokens = 0;
  for (const Episode& episode : episodes) {
    double own = 0, tokens = 0;
    const std::span<const Turn> turns = episode.turns;
    for (std::size_t k = 0; k < turns.size(); ++k) {
      std::size_t first = k, end = k + 1;  // of the sample
      while (!turns[first].begins_context) --first;
      while (end < turns.size() && !turns[end].begins_context) ++end;
      const double factor = std::pow(config.clip_turn_factor, static_cast<double>(k));
      for (std::size_t t = 0; t < turns[k].ids.size(); ++t) {
        const double level = config.ratio_level == RatioLevel::token      ? log_ratio(turns[k], t, still)
                             : config.ratio_level == RatioLevel::turn     ? mean_over(turns.subspan(k, 1))
                             : config.ratio_level == RatioLevel::sequence ? mean_over(turns.subspan(first, end - first))
                                                                          : sum_over(turns).first;
        const std::int32_t id = turns[k].ids[t];
        const double ratio = std::exp(level + now.at(id) - still.at(id)), advantage = advantages.at(id);
        const double clipped = std::clamp(ratio, 1 - config.clip_low * factor, 1 + config.clip_high * factor);
        own += std::max(-advantage * ratio, -advantage * clipped);
        ++tokens;
      }
    }
    all_tokens += tokens;
    const double count = static_cast<double>(episodes.size());
    switch (config.average) {
      case LossAverage::trajectory: loss += own / tokens / count; break;
      case LossAverage::token: loss += own; break;
      case LossAverage::trajectory_sum: loss += own / count; break;
      case LossAverage::fixed_length: loss += own / count / longest; break;
    }
  }
  return config.average == LossAverage::token ? loss / all_tokens : loss;
}

}  // namespace

TEST_CASE(
    "the loss of episodes with several samples equals its equation, and its gradient matches finite differences") {
  const std::vector<Episode> episodes = episodes_with_samples();
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes) std::ranges::move(make_sequences(episode), std::back_inserter(sequences));
  REQUIRE(sequences.size() == 6);
  Table table;
  std::map<std::int32_t, double> advantages;
  for (Sequence& sequence : sequences)
    for (const Turn& turn : sequence.turns)
      for (std::size_t t = 0; t < turn.ids.size(); ++t) {
        const double shift = 0.15 * std::sin(3.0 * turn.ids[t]);
        table[turn.ids[t]] = static_cast<float>(turn.logprobs[t] + shift);
        advantages[turn.ids[t]] = std::cos(2.0 * turn.ids[t]);
        sequence.advantages.push_back(advantages[turn.ids[t]]);
      }
  // The update moves samples without a gradient to the end, so those of an episode need not be adjacent.
  std::swap(sequences[1], sequences[5]);
  LossConfig config;
  constexpr int longest = 40;
  constexpr float temperature = 1;
  for (const auto level : {RatioLevel::token, RatioLevel::turn, RatioLevel::sequence, RatioLevel::trajectory})
    for (const auto average :
         {LossAverage::trajectory, LossAverage::token, LossAverage::trajectory_sum, LossAverage::fixed_length})
      for (const double factor : {1.0, 1.5}) {
        const bool by_turn = level == RatioLevel::token || level == RatioLevel::turn;
        if (factor != 1 && !by_turn) continue;
        CAPTURE(static_cast<int>(level));
        CAPTURE(static_cast<int>(average));
        config.policy = {
            .clip_low = 0.1, .clip_high = 0.12, .average = average, .ratio_level = level, .clip_turn_factor = factor};
        TablePass pass(table);
        const auto weights = sequence_weights(sequences, config.policy, longest);
        const auto log_ratios = trajectory_log_ratios(pass, sequences, config, 7, temperature, [] {});
        CHECK(log_ratios.empty() == (level != RatioLevel::trajectory));
        PolicyLossSums sums;
        for (const MicroBatch& micro : split_into_micro_batches(sequences, 7)) {
          const auto own = std::span<const Sequence>(sequences).subspan(micro.first, micro.count);
          const PackedBatch batch = pack(own);
          std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
          policy_pass(pass, batch, own, std::span(weights).subspan(micro.first, micro.count), log_ratios, config,
                      temperature, logprobs, entropies, sums);
        }
        const auto loss = [&](const Table& now) {
          return restated_loss(episodes, advantages, now, table, config.policy, longest);
        };
        CHECK(sums.loss == doctest::Approx(loss(table)).epsilon(1e-6));
        REQUIRE(pass.gradients.size() == table.size());
        constexpr double step = 1e-5;
        for (const auto& [id, gradient] : pass.gradients) {
          Table up = table, down = table;
          up[id] += step;
          down[id] -= step;
          CHECK(gradient == doctest::Approx((loss(up) - loss(down)) / (2 * step)).epsilon(1e-4));
        }
      }
}

TEST_CASE("mini-batches and diagnostics have whole episodes, and replayed groups keep their contexts") {
  std::vector<Episode> episodes = episodes_with_samples();
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes) std::ranges::move(make_sequences(episode), std::back_inserter(sequences));
  const auto batches = split_into_mini_batches(sequences, 2);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].size() == 5);
  CHECK(batches[1].size() == 1);
  CHECK(&batches[1].front() == &sequences[5]);

  // Evenly spaced sequences could all be first samples.
  CHECK(sequences_of_some_episodes(sequences, 1).size() == 3);
  CHECK(sequences_of_some_episodes(sequences, 2).size() == 5);
  CHECK(sequences_of_some_episodes(sequences, 9).size() == 6);

  const auto groups = replay_groups(1, sequences);
  REQUIRE(groups.size() == 1);  // all have the same group
  REQUIRE(groups[0].episodes.size() == 3);
  ReplayBuffer buffer;
  buffer.add(1, groups, {2, 0.5});
  auto copy = ReplayBuffer::deserialize(buffer.serialize());
  RunConfig config;
  config.replay = {2, 0.5};
  const int fresh[] = {1};
  const auto drawn = copy.draw(config, 2, fresh, 0);
  REQUIRE(drawn.size() == 1);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const auto stored = make_sequences(drawn[0]->episodes[i]), own = make_sequences(episodes[i]);
    REQUIRE(stored.size() == own.size());
    for (std::size_t s = 0; s < own.size(); ++s) CHECK(pack({&stored[s], 1}).tokens == pack({&own[s], 1}).tokens);
  }
}

TEST_CASE_FIXTURE(TinyRun, "a run with contexts of one turn trains every turn and resumes identically") {
  config["iterations"] = 3;
  config["checkpoint"].update({{"every", 1}, {"keep", 2}});
  config["rollout"]["context_turns"] = 1;
  config["reward"]["length_cost"] = 1;
  config["replay"] = {{"iterations", 1}, {"share", 0.5}};
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}, {"placement", "reward"}});
  config["advantage"].update({{"estimator", "gae"}, {"whiten", true}});
  config["critic"]["model"] = "head";
  config["policy_loss"].update({{"ratio_level", "trajectory"}, {"epochs", 2}});
  config["diagnostics"].update({{"every", 1}, {"probe", false}});
  CHECK(train() == 0);
  for (const json& event : events("iteration")) {
    const auto& metrics = event.at("metrics");
    CHECK(metrics.at("rollout/logprob_gap_max") == 0);
    CHECK(metrics.at("actor/grad_norm") > 0);
    CHECK(metrics.at("diagnostics/grad_norm_high_std") > 0);
    CHECK(metrics.at("rollout/turns") > 1);
  }
  CHECK(events("iteration").back().at("metrics").at("replay/share") == 0.5);
  const auto checkpoints = run.path() / "checkpoints";
  const auto whole = weights("000003"), state = read_text(checkpoints / "000003/trainer-state.safetensors"),
             buffer = read_text(checkpoints / "000003/replay.cbor");
  std::filesystem::remove_all(checkpoints / "000003");
  CHECK(train() == 0);
  CHECK(weights("000003") == whole);
  CHECK(read_text(checkpoints / "000003/trainer-state.safetensors") == state);
  CHECK(read_text(checkpoints / "000003/replay.cbor") == buffer);
}
