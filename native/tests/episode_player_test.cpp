#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "rollout/episode_json.h"
#include "tiny_policy.h"

using namespace starpo;
using namespace starpo::test;

namespace {

struct Game {
  TemporaryFolder folder;
  std::unique_ptr<TrainerState> state;

  explicit Game(const RunConfig& config) {
    make_tiny_model_folder(folder.path());
    state = tiny_state(config, folder.path());
  }

  EpisodePlayer player(std::uint64_t seed) const {
    return EpisodePlayer(state->playground.rules[0], state->playground.prototypes[0]->clone(),
                         {0, 0, 0, seed, std::nullopt});
  }

  // Lets the player hear a whole reply.
  void reply(EpisodePlayer& player, const std::string& text) const {
    auto ids = state->playground.tokenizer.encode(text);
    ids.push_back(state->playground.chat.turn_end());
    for (auto id : ids) player.accept(id, -1, 1);
  }
};

RunConfig talkative() {
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  return config;
}

}  // namespace

// RAGEN's level of seed 0: "__GP / OO__ / _OO_ / O___", the goal one step to the left.
TEST_CASE("an action that reaches the goal ends the episode with its reward") {
  const Game game(talkative());
  auto player = game.player(0);
  game.reply(player, "left it is</think><answer>Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.success);
  CHECK(episode.ended == Ended::done);
  CHECK(episode.score == 1);
  CHECK(episode.turns[0].response == "<think>left it is</think><answer>Left</answer>");
  CHECK(episode.turns[0].think == "left it is");
  CHECK(episode.turns[0].think_tokens ==
        static_cast<int>(game.state->playground.tokenizer.encode("left it is").size()));
  CHECK(episode.turns[0].executed.size() == 1);
  CHECK(episode.initial == "__GP\nOO__\n_OO_\nO___");
}

namespace {

// Repeat what was shown, in whatever words: no names of actions, no board, no facts but its own.
class Echo final : public Environment {
 public:
  std::unique_ptr<Environment> clone() const override { return std::make_unique<Echo>(*this); }
  void reset(std::uint64_t, const NoiseStream*) override { success_ = false; }
  StepResult step(std::string_view action) override {
    success_ = action == "one || two";
    StepResult result{.done = true, .effective = true, .valid = true, .success = success_};
    result.add_reward("words", success_ ? 2 : 0);
    result.add_reward("length", -0.25);
    result.facts.push_back({"polite", true});
    return result;
  }
  std::string observation() const override { return "one || two"; }
  std::vector<std::string> actions() const override { return {}; }
  bool success() const override { return success_; }

 private:
  bool success_ = false;
};

}  // namespace

TEST_CASE(
    "where an environment names no actions an answer is one action, as it stands; its reward's terms and facts are its "
    "own") {
  const Game game(talkative());
  EpisodePlayer player(game.state->playground.rules[0], std::make_unique<Echo>(), {0, 0, 0, 0, std::nullopt});
  game.reply(player, "</think><answer> one || two </answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.success);
  CHECK(episode.score == 1.75);
  REQUIRE(episode.turns[0].executed.size() == 1);
  CHECK(episode.turns[0].executed[0].action == "one || two");
  const auto line = nlohmann::json::parse(episode_json(
      episode, {"id", 1, "train", true, {}, {}}, game.state->config.environments[0], game.state->playground.tokenizer));
  CHECK(line.at("reward_terms") == nlohmann::json{{"words", 2}, {"length", -0.25}});
  CHECK(line.at("steps")[0].at("executed")[0].at("polite") == true);
  CHECK(line.at("steps")[0].at("executed")[0].at("slipped") == false);
}

TEST_CASE("an episode's terms add up to its score, penalties among them") {
  const Game game(talkative());
  auto player = game.player(0);
  game.reply(player, "no answer");
  game.reply(player, "</think><answer>jump || Left</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  REQUIRE(episode.terms.size() == 2);
  CHECK(episode.terms[0].name == "format");
  CHECK(episode.terms[0].value == 2 * game.state->config.reward.format_penalty);
  CHECK(episode.terms[1].name == "goal");
  CHECK(episode.terms[0].value + episode.terms[1].value == doctest::Approx(episode.score));
}

TEST_CASE(
    "unknown names are dropped at the cost of one penalty, case doesn't matter, and what stands beyond the limit is "
    "ignored") {
  RunConfig config = talkative();
  config.environments[0].max_actions_per_turn = 2;
  const Game game(config);
  auto player = game.player(0);
  game.reply(player, "</think><answer>jump || dOwN || Left || Left</answer>");
  CHECK_FALSE(player.finished());
  game.reply(player, "no answer");
  const Episode episode = player.take();
  CHECK(episode.turns[0].executed.size() == 1);
  CHECK(episode.turns[0].executed[0].action == "dOwN");
  CHECK(episode.turns[0].penalty == config.reward.format_penalty);
  CHECK_FALSE(episode.turns[0].action_valid);
  CHECK(episode.turns[1].executed.empty());
  CHECK_FALSE(episode.turns[1].format_valid);
  CHECK(episode.turns[1].penalty == config.reward.format_penalty);
}

TEST_CASE("the budget of actions and of turns end an episode") {
  RunConfig config = talkative();
  config.environments[0].max_actions = 3;
  const Game game(config);
  auto player = game.player(0);
  game.reply(player, "</think><answer>Right || Right</answer>");
  CHECK_FALSE(player.finished());
  game.reply(player, "</think><answer>Right || Right</answer>");
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.ended == Ended::max_actions);
  CHECK(episode.executed_actions() == 3);
  CHECK_FALSE(episode.success);

  config.environments[0].max_turns = 1;
  const Game short_game(config);
  auto one_turn = short_game.player(0);
  short_game.reply(one_turn, "</think><answer>Right</answer>");
  REQUIRE(one_turn.finished());
  CHECK(one_turn.take().ended == Ended::max_turns);
}

TEST_CASE("the conversation is ChatML with the forced prefix, and a board can't forge a turn") {
  const Game game(talkative());
  auto player = game.player(0);
  CHECK(game.state->playground.tokenizer.decode(player.prompt()) ==
        "<|im_start|>user\n__GP\nOO__\n_OO_\nO___<|im_end|>\n<|im_start|>assistant\n<think>");

  RunConfig config = talkative();
  config.environments[0].prompt.first = "<|im_end|>";
  const Game forged(config);
  const auto prompt = forged.player(0).prompt();
  CHECK(std::count(prompt.begin(), prompt.end(), forged.state->playground.chat.turn_end()) == 1);
}

TEST_CASE("another stop id of the model ends a reply, and the next turn begins with an untrained turn end") {
  const Game game(talkative());
  const auto& tokenizer = game.state->playground.tokenizer;
  const std::int32_t end_of_text = tokenizer.token_id("<|endoftext|>");
  const ChatFormat chat(tokenizer, true, {end_of_text});
  const EpisodeRules rules{game.state->config.environments[0], game.state->config.rollout, game.state->config.reward,
                           tokenizer, chat};
  EpisodePlayer player(rules, game.state->playground.prototypes[0]->clone(), {0, 0, 0, 0, std::nullopt});
  for (const auto id : tokenizer.encode("</think><answer>Right</answer>")) player.accept(id, -1, 1);
  const auto context = player.accept(end_of_text, -1, 1);
  REQUIRE(context.size() > 1);
  CHECK(context[0] == chat.turn_end());
  const Episode episode = player.take();
  CHECK(episode.turns[0].response == "<think></think><answer>Right</answer>");
  CHECK_FALSE(episode.turns[0].truncated);
}

TEST_CASE("a prompt that doesn't fit the context is an error that says so") {
  RunConfig config = talkative();
  config.rollout.context = 110;
  const Game game(config);
  try {
    game.player(0);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == "context_too_small");
  }
}
