#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "rollout/episode_json.h"
#include "rollout/reward_terms.h"
#include "rollout/state_limit.h"
#include "tiny_policy.h"
#include "tokenizer/utf8.h"
#include "train/metrics/reasoning_metrics.h"
#include "train/metrics/rollout_metrics.h"

using namespace starpo;
using namespace starpo::test;

namespace {

struct PlayerFixture {
  TemporaryFolder folder;
  std::unique_ptr<TrainerState> state;

  explicit PlayerFixture(const RunConfig& config) {
    make_tiny_model_folder(folder.path());
    state = tiny_state(config, folder.path());
  }

  EpisodePlayer player(std::uint64_t seed) const {
    return EpisodePlayer(state->playground.rules[0], state->playground.prototypes[0]->clone(),
                         {0, 0, 0, seed, std::nullopt});
  }

  // Feeds a whole response to the player.
  void respond(EpisodePlayer& player, const std::string& text) const {
    auto ids = state->playground.tokenizer.encode(text);
    ids.push_back(state->playground.chat.turn_end());
    for (auto id : ids) player.accept(id, -1, 1);
  }
};

RunConfig player_config() {
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  return config;
}

}  // namespace

// RAGEN's level for seed 0: "__GP / OO__ / _OO_ / O___", with the goal one step to the left.
TEST_CASE("an action that reaches the goal ends the episode with its reward") {
  const PlayerFixture fixture(player_config());
  auto player = fixture.player(0);
  fixture.respond(player, "left it is</think><answer>Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.success);
  CHECK(episode.ended == EndReason::done);
  CHECK(episode.score == 1);
  CHECK(episode.turns[0].response == "<think>left it is</think><answer>Left</answer>");
  CHECK(episode.turns[0].think == "left it is");
  CHECK(episode.turns[0].think_tokens ==
        static_cast<int>(fixture.state->playground.tokenizer.encode("left it is").size()));
  CHECK(episode.turns[0].executed.size() == 1);
  CHECK(episode.initial == "__GP\nOO__\n_OO_\nO___");
}

namespace {

// Succeeds if the action repeats the observation. Has no action names and no board, and a flag of its own.
class Echo final : public Environment {
 public:
  std::unique_ptr<Environment> clone() const override { return std::make_unique<Echo>(*this); }
  void reset(std::uint64_t, const NoiseStream*) override { success_ = false; }
  StepResult step(std::string_view action) override {
    success_ = action == "one || two";
    StepResult result{.done = true, .effective = true, .valid = true, .success = success_};
    result.add_reward("words", success_ ? 2 : 0);
    result.add_reward("length", -0.25);
    result.flags.push_back({"polite", true});
    return result;
  }
  std::string observation() const override { return "one || two"; }
  std::vector<std::string> actions() const override { return {}; }
  bool success() const override { return success_; }

 private:
  bool success_ = false;
};

}  // namespace

TEST_CASE("without named actions, the whole answer is one action, with the environment's own reward terms and flags") {
  const PlayerFixture fixture(player_config());
  EpisodePlayer player(fixture.state->playground.rules[0], std::make_unique<Echo>(), {0, 0, 0, 0, std::nullopt});
  fixture.respond(player, "</think><answer> one || two </answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.success);
  CHECK(episode.score == 1.75);
  REQUIRE(episode.turns[0].executed.size() == 1);
  CHECK(episode.turns[0].executed[0].action == "one || two");
  const auto line =
      nlohmann::json::parse(episode_json(episode, {"id", 1, "train", true, {}, {}},
                                         fixture.state->config.environments[0], fixture.state->playground.tokenizer));
  CHECK(line.at("reward_terms") == nlohmann::json{{"words", 2}, {"length", -0.25}});
  CHECK(line.at("steps")[0].at("executed")[0].at("polite") == true);
  CHECK(line.at("steps")[0].at("executed")[0].at("slipped") == false);
}

TEST_CASE("a state above max_state_tokens is truncated in the middle, and omitted tokens are counted") {
  RunConfig config = player_config();
  config.environments[0].prompt.first = "<{state}>";
  const auto play = [&](int limit) {
    config.environments[0].max_state_tokens = limit;
    const PlayerFixture fixture(config);
    auto player = fixture.player(0);
    const std::string read = fixture.state->playground.tokenizer.decode(player.prompt());
    fixture.respond(player, "</think><answer>Left</answer>");
    const std::vector<Episode> episodes{player.take()};
    const auto line = nlohmann::json::parse(episode_json(episodes[0], {"id", 1, "train", true, {}, {}},
                                                         config.environments[0], fixture.state->playground.tokenizer));
    CHECK(line.at("steps")[0].at("state") == "__GP\nOO__\n_OO_\nO___");  // files keep the whole state
    const Metrics metrics = rollout_metrics(episodes, true);
    const auto rate = metrics.find("rollout/state_truncated_rate");
    return std::tuple(read.substr(read.find('<', read.find("user")), 40),
                      line.at("steps")[0].value("omitted_tokens", 0), rate == metrics.end() ? -1.0 : rate->second);
  };
  const auto [whole, none, no_rate] = play(0);
  CHECK(whole.starts_with("<__GP\nOO__\n_OO_\nO___>"));
  CHECK(none == 0);
  CHECK(no_rate == -1);
  CHECK(std::get<2>(play(100)) == 0);
  const auto [half, omitted, rate] = play(5);
  CHECK(half.starts_with("<__G\n...\n__>"));
  CHECK(omitted == 14);
  CHECK(rate == 1);
}

TEST_CASE("limit_state never cuts a character") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const std::string state = "€€€€ 👍👍👍";
  for (int limit = 1; limit < 40; ++limit) {
    const ShownState shown = limit_state(tokenizer, state, limit);
    CHECK(valid_utf8_length(shown.text) == shown.text.size());
    CHECK((shown.omitted_tokens == 0) == (shown.text == state));
  }
}

TEST_CASE("reward terms, including penalties, add up to the score of an episode") {
  const PlayerFixture fixture(player_config());
  auto player = fixture.player(0);
  fixture.respond(player, "no answer");
  fixture.respond(player, "</think><answer>jump || Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  REQUIRE(episode.terms.size() == 2);
  CHECK(episode.terms[0].name == "format");
  CHECK(episode.terms[0].value == 2 * fixture.state->config.reward.format_penalty);
  CHECK(episode.terms[1].name == "goal");
  CHECK(episode.terms[0].value + episode.terms[1].value == doctest::Approx(episode.score));
}

TEST_CASE("a turn's score is the sum of its weighted reward terms, and the success bonus is in the last turn") {
  RunConfig config = player_config();
  config.reward = {
      .environment_weight = 0.5, .format_penalty = -0.25, .step_cost = 0.125, .success_bonus = 2, .length_cost = 1};
  const PlayerFixture fixture(config);
  auto player = fixture.player(0);
  fixture.respond(player, "</think><answer>Up || jump</answer>");
  fixture.respond(player, "</think><answer>Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  const auto named = [](const std::vector<RewardTerm>& terms) {
    std::map<std::string, double> result;
    for (const RewardTerm& term : terms) result[term.name] = term.value;
    return result;
  };
  const auto length = [&](int turn) { return -static_cast<double>(episode.turns[turn].ids.size()) / 100; };
  CHECK(named(episode.turns[0].terms) ==
        std::map<std::string, double>{
            {"environment", 0}, {"format", -0.25}, {"step_cost", -0.125}, {"success", 0}, {"length", length(0)}});
  CHECK(named(episode.turns[1].terms) ==
        std::map<std::string, double>{
            {"environment", 0.5}, {"format", 0}, {"step_cost", -0.125}, {"success", 2}, {"length", length(1)}});
  CHECK(episode.turns[0].reward == 0);
  CHECK(episode.turns[1].reward == 1);
  CHECK(episode.turns[0].score == doctest::Approx(-0.375 + length(0)));
  CHECK(episode.score == episode.turns[0].score + episode.turns[1].score);
  CHECK(named(episode.terms) ==
        std::map<std::string, double>{
            {"goal", 0.5}, {"format", -0.25}, {"step_cost", -0.25}, {"success", 2}, {"length", length(0) + length(1)}});
  const auto metrics = rollout_metrics({&episode, 1}, true);
  CHECK(metrics.at("rollout/reward_term/success") == 2);
  double sum = 0;
  for (const auto& [name, value] : metrics) sum += name.starts_with("rollout/reward_term/") ? value : 0;
  CHECK(sum == doctest::Approx(metrics.at("rollout/reward_mean")));
}

TEST_CASE("with a length buffer, the length cost is proportional to the filled share of the buffer") {
  const RewardConfig config{.length_cost = 2, .length_buffer = 20};
  const auto cost = [&](std::size_t tokens) {
    Turn turn;
    turn.ids.resize(tokens);
    return reward_terms(turn, false, config, 100).back().value;
  };
  CHECK(cost(1) == 0);
  CHECK(cost(80) == 0);
  CHECK(cost(85) == -0.5);
  CHECK(cost(100) == -2);
}

TEST_CASE("without weights, a turn's score is the reward plus the penalty; claims are scored by kind and counted") {
  Turn turn;
  turn.reward = 0.1;
  turn.penalty = -0.2;
  turn.think = "\u2192 ab";
  turn.claims = std::vector<Claim>{{4, 5, ClaimKind::grounding, true},
                                   {5, 6, ClaimKind::grounding, false, "No."},
                                   {4, 5, ClaimKind::grounding, true},
                                   {4, 6, ClaimKind::faithfulness, false, "It is Up."}};
  CHECK(sum_of(reward_terms(turn, true, RewardConfig{}, 100)) == 0.1 + -0.2);

  const auto terms = claim_terms(turn, 2, {.grounding_weight = 3, .faithfulness_weight = 0.5});
  REQUIRE(terms.size() == 2);
  CHECK(terms[0].name == "grounding");
  CHECK(terms[0].value == doctest::Approx(0.5));  // 3 / 2 * (2 - 1) / 3
  CHECK(terms[1].name == "faithfulness");
  CHECK(terms[1].value == -0.25);
  CHECK(turn_json(turn)["claims"] == nlohmann::json::parse(R"({"checked": 4, "false": [
    {"start": 3, "end": 4, "kind": "grounding", "fact": "No."},
    {"start": 2, "end": 4, "kind": "faithfulness", "fact": "It is Up."}]})"));

  std::vector<Episode> episodes(3);
  for (Episode& episode : episodes) episode.success = true;
  episodes[0].turns = {turn, Turn{}};
  episodes[1].turns = {turn};
  episodes[1].turns[0].claims->resize(1, {});
  episodes[2].turns = {turn};
  episodes[2].turns[0].claims->clear();
  Metrics metrics;
  add_claim_metrics(episodes, metrics);
  CHECK(metrics.at("rollout/consistency") == doctest::Approx(3.0 / 5));
  CHECK(metrics.at("rollout/claims_checked") == doctest::Approx(5.0 / 3));
  CHECK(metrics.at("rollout/lucky_rate") == 0.5);
}

TEST_CASE("claims are checked before the actions run, and their terms are means over the turns") {
  RunConfig config = player_config();
  config.reward.grounding_weight = 0.5;
  config.reward.faithfulness_weight = 0.25;
  const PlayerFixture fixture(config);
  auto player = fixture.player(0);
  const std::string good = "player 0,3 goal 0,2 hole 1,1 hole 3,3. go ";
  fixture.respond(player, good + "Right 1</think><answer>Right</answer>");
  fixture.respond(player, good + "Left 1</think><answer>Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  double sum = 0;
  for (const Turn& turn : episode.turns) {
    REQUIRE(turn.claims);
    CHECK(turn.claims->size() == 5);
    REQUIRE(turn.terms.size() == 4);
    CHECK(turn.terms[2].value == 0.125);  // of three true claims and a false one, in one turn of two
    CHECK(turn.terms[3].value == 0.125);
    sum += turn.score;
  }
  CHECK(sum == 1.5);
  CHECK(episode.score == 1.5);
}

TEST_CASE("unknown actions are dropped with one penalty, case is ignored, and actions beyond the limit are ignored") {
  RunConfig config = player_config();
  config.environments[0].max_actions_per_turn = 2;
  const PlayerFixture fixture(config);
  auto player = fixture.player(0);
  fixture.respond(player, "</think><answer>jump || dOwN || Left || Left</answer>");
  CHECK_FALSE(player.finished());
  fixture.respond(player, "no answer");
  const Episode episode = player.take();
  CHECK(episode.turns[0].executed.size() == 1);
  CHECK(episode.turns[0].executed[0].action == "dOwN");
  CHECK(episode.turns[0].penalty == config.reward.format_penalty);
  CHECK_FALSE(episode.turns[0].action_valid);
  CHECK(episode.turns[1].executed.empty());
  CHECK_FALSE(episode.turns[1].format_valid);
  CHECK(episode.turns[1].penalty == config.reward.format_penalty);
}

TEST_CASE("the action and turn limits end an episode") {
  RunConfig config = player_config();
  config.environments[0].max_actions = 3;
  const PlayerFixture fixture(config);
  auto player = fixture.player(0);
  fixture.respond(player, "</think><answer>Right || Right</answer>");
  CHECK_FALSE(player.finished());
  fixture.respond(player, "</think><answer>Right || Right</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.ended == EndReason::max_actions);
  CHECK(episode.executed_actions() == 3);
  CHECK_FALSE(episode.success);

  config.environments[0].max_turns = 1;
  const PlayerFixture short_fixture(config);
  auto one_turn = short_fixture.player(0);
  short_fixture.respond(one_turn, "</think><answer>Right</answer>");
  REQUIRE(one_turn.finished());
  CHECK(one_turn.take().ended == EndReason::max_turns);
}

TEST_CASE("conversations are ChatML with the forced prefix, and a board can't forge a turn") {
  const PlayerFixture fixture(player_config());
  auto player = fixture.player(0);
  CHECK(fixture.state->playground.tokenizer.decode(player.prompt()) ==
        "<|im_start|>user\n__GP\nOO__\n_OO_\nO___<|im_end|>\n<|im_start|>assistant\n<think>");

  RunConfig config = player_config();
  config.environments[0].prompt.first = "<|im_end|>";
  const PlayerFixture forged(config);
  const auto prompt = forged.player(0).prompt();
  CHECK(std::count(prompt.begin(), prompt.end(), forged.state->playground.chat.turn_end()) == 1);
}

TEST_CASE("another stop id ends a response, and the next turn begins with an untrained turn end") {
  const PlayerFixture fixture(player_config());
  const auto& tokenizer = fixture.state->playground.tokenizer;
  const std::int32_t end_of_text = tokenizer.token_id("<|endoftext|>");
  const ChatFormat chat(tokenizer, true, {end_of_text});
  const EpisodeRules rules{fixture.state->config.environments[0], fixture.state->config.rollout,
                           fixture.state->config.reward, tokenizer, chat};
  EpisodePlayer player(rules, fixture.state->playground.prototypes[0]->clone(), {0, 0, 0, 0, std::nullopt});
  for (const auto id : tokenizer.encode("</think><answer>Right</answer>")) player.accept(id, -1, 1);
  const auto context = player.accept(end_of_text, -1, 1);
  REQUIRE(context.size() > 1);
  CHECK(context[0] == chat.turn_end());
  const Episode episode = player.take();
  CHECK(episode.turns[0].response == "<think></think><answer>Right</answer>");
  CHECK_FALSE(episode.turns[0].truncated);
}

TEST_CASE("a prompt that does not fit the context is rejected with context_too_small") {
  RunConfig config = player_config();
  config.rollout.context = 110;
  const PlayerFixture fixture(config);
  try {
    fixture.player(0);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == "context_too_small");
  }
}
