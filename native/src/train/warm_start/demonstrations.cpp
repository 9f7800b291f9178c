#include "train/warm_start/demonstrations.h"

#include "base/error.h"
#include "train/run/levels.h"

namespace starpo {
namespace {

DemonstrationStyle draw_style(const WarmStartConfig& config, DemonstrationDraws& draws) {
  const double u = draws.uniform() * (config.plain + config.positions + config.careful);
  return u < config.plain ? DemonstrationStyle::plain : u < config.plain + config.positions ? DemonstrationStyle::positions : DemonstrationStyle::careful;
}

Demonstration reply_to(const Environment& environment, const WarmStartConfig& config, int limit, DemonstrationDraws& draws) {
  const DemonstrationStyle style = draw_style(config, draws);
  const bool mistake = draws.uniform() < config.mistakes;
  if (auto reply = environment.demonstrate({style, mistake, limit, draws})) return *std::move(reply);
  throw Error("warm_start_unsupported", "there are no demonstrations for this environment", "train it with the task reinforce");
}

std::string text_of(const Demonstration& reply, bool think) {
  std::string answer;
  for (const auto& action : reply.actions) answer += (answer.empty() ? "" : " || ") + action;
  return think ? reply.thought + "</think><answer>" + answer + "</answer>" : answer + "</answer>";
}

int draw_environment(const RunConfig& config, DemonstrationDraws& draws) {
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

Episode play_demonstration(const RunConfig& config, const Playground& playground, std::uint64_t index) {
  DemonstrationDraws draws(config.seed, index);
  const int e = draw_environment(config, draws);
  EpisodePlayer player(playground.rules[e], playground.prototypes[e]->clone(), demonstration_episode(config, e, index));
  while (!player.finished()) {
    const Demonstration reply = reply_to(player.environment(), config.warm_start, config.environments[e].max_actions_per_turn, draws);
    auto ids = playground.tokenizer.encode(text_of(reply, config.rollout.think));
    ids.push_back(playground.chat.turn_end());
    for (const auto id : ids) {
      const bool turn_over = !player.accept(id, 0, 0).empty() || player.finished();
      if (turn_over) break;  // the turn end, or the token limit before it
    }
  }
  return player.take();
}

}  // namespace starpo
