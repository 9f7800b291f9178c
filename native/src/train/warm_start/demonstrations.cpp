#include "train/warm_start/demonstrations.h"

#include "base/error.h"
#include "train/run/levels.h"
#include "train/warm_start/demonstration_replies.h"

namespace starpo {
namespace {

Style draw_style(const WarmStartConfig& config, Draws& draws) {
  const double u = draws.uniform() * (config.plain + config.positions + config.careful);
  return u < config.plain ? Style::plain : u < config.plain + config.positions ? Style::positions : Style::careful;
}

Reply bandit_reply(const Environment& bandit, Style style, Draws& draws) {
  const auto arms = bandit.arms();
  const std::string arm = arms[draws.below(static_cast<int>(arms.size()))];
  switch (style) {
    case Style::plain: return {"I try " + arm + ".", {arm}};
    case Style::positions: return {arm + " pays more.", {arm}};
    case Style::careful: return {"choose the arm: " + arm + " pays more.", {arm}};
  }
  return {};
}

Reply reply_to(const Environment& environment, const WarmStartConfig& config, int limit, Draws& draws) {
  const Style style = draw_style(config, draws);
  const bool mistake = draws.uniform() < config.mistakes;
  if (const auto* lake = dynamic_cast<const FrozenLake*>(&environment)) return lake_reply(*lake, style, mistake, limit, draws);
  if (const auto* sokoban = dynamic_cast<const Sokoban*>(&environment)) return sokoban_reply(*sokoban, style, mistake, limit, draws);
  if (!environment.arms().empty()) return bandit_reply(environment, style, draws);
  throw Error("warm_start_unsupported", "there are no demonstrations for this environment", "use frozen-lake, sokoban or bandit");
}

std::string text_of(const Reply& reply, bool think) {
  std::string answer;
  for (const auto& action : reply.actions) answer += (answer.empty() ? "" : " || ") + action;
  return think ? reply.thought + "</think><answer>" + answer + "</answer>" : answer + "</answer>";
}

int draw_environment(const RunConfig& config, Draws& draws) {
  double total = 0;
  for (const auto& environment : config.environments) total += environment.share;
  double u = draws.uniform() * total;
  for (std::size_t e = 0; e < config.environments.size(); ++e) {
    if (u < config.environments[e].share) return static_cast<int>(e);
    u -= config.environments[e].share;
  }
  return static_cast<int>(config.environments.size()) - 1;
}

}  // namespace

Episode play_demonstration(const TrainerState& state, std::uint32_t index) {
  Draws draws(state.config.seed, index);
  const int e = draw_environment(state.config, draws);
  EpisodePlayer player(state.rules[e], state.prototypes[e]->clone(), demonstration_episode(state.config, e, index));
  while (!player.finished()) {
    const Reply reply = reply_to(player.environment(), state.config.warm_start, state.config.environments[e].max_actions_per_turn, draws);
    auto ids = state.tokenizer.encode(text_of(reply, state.config.rollout.think));
    ids.push_back(state.chat.turn_end());
    for (const auto id : ids) {
      const bool turn_over = !player.accept(id, 0, 0).empty() || player.finished();
      if (turn_over) break;  // the turn end, or the token limit before it
    }
  }
  return player.take();
}

}  // namespace starpo
