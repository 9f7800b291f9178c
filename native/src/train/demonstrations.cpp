#include "train/demonstrations.h"

#include <algorithm>

#include "base/error.h"
#include "env/frozen_lake.h"
#include "env/frozen_lake_solver.h"

namespace starpo {
namespace {

// Demonstration levels lie far from the training and validation seeds.
constexpr std::uint64_t first_level_seed = 1ull << 40;

class Draws {
 public:
  Draws(std::uint32_t seed, std::uint32_t index) : random_{seed, RandomStream::demonstrations}, index_(index) {}
  float uniform() { return uniform_open(random_(index_, 0, 0, next_++)[0]); }
  int below(int count) { return std::min(count - 1, static_cast<int>(uniform() * static_cast<float>(count))); }

 private:
  Philox random_;
  std::uint32_t index_, next_ = 0;
};

enum class Style { plain, positions, careful };

Style draw_style(const WarmStartConfig& config, Draws& draws) {
  const double u = draws.uniform() * (config.plain + config.positions + config.careful);
  return u < config.plain ? Style::plain : u < config.plain + config.positions ? Style::positions : Style::careful;
}

struct Reply {
  std::string thought;
  std::vector<std::string> actions;
};

std::string place(int cell, int size) { return " " + std::to_string(cell / size) + "," + std::to_string(cell % size); }

std::vector<std::string> random_plan(const std::vector<std::string>& names, Draws& draws) {
  std::vector<std::string> plan(2 + draws.below(3));
  for (auto& action : plan) action = names[draws.below(static_cast<int>(names.size()))];
  return plan;
}

// "Down 1,3 Left 1,2": each of the plan's moves and where it leads, so that every step can be held against the holes.
std::string stepwise(const FrozenLake& lake, const std::vector<std::string>& plan) {
  const std::vector<std::string> names = lake.actions();
  std::string text;
  int cell = lake.player();
  for (const auto& action : plan) {
    cell = neighbour(lake.level(), cell, static_cast<Direction>(std::find(names.begin(), names.end(), action) - names.begin()));
    text += " " + action + place(cell, lake.level().size);
  }
  return text;
}

// "Down 2 Right 1": the plan's moves, counted.
std::string counted(const std::vector<std::string>& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.size();) {
    std::size_t end = i;
    while (end < plan.size() && plan[end] == plan[i]) ++end;
    text += " " + plan[i] + " " + std::to_string(end - i);
    i = end;
  }
  return text;
}

Reply lake_reply(const FrozenLake& lake, Style style, bool mistake, int limit, Draws& draws) {
  auto plan = mistake ? random_plan(lake.actions(), draws) : style == Style::careful ? shortest_safe_path(lake) : greedy_path(lake);
  if (!mistake && style != Style::careful && draws.uniform() < 0.5f)  // horizontal moves first
    std::stable_partition(plan.begin(), plan.end(), [](const std::string& action) { return action == "Left" || action == "Right"; });
  if (static_cast<int>(plan.size()) > limit) plan.resize(limit);

  const auto& level = lake.level();
  std::string thought;
  switch (style) {
    case Style::plain:
      thought = draws.uniform() < 0.5f ? "I go to the goal." : "try the way to the goal.";
      break;
    case Style::positions:
      thought = "player" + place(lake.player(), level.size) + " goal" + place(level.goal, level.size) + ". go" + counted(plan);
      break;
    case Style::careful:
      thought = "player" + place(lake.player(), level.size) + " goal" + place(level.goal, level.size);
      for (int cell = 0; cell < level.size * level.size; ++cell)
        if (level.holes[cell]) thought += " hole" + place(cell, level.size);
      thought += ". safe path" + stepwise(lake, plan);
      break;
  }
  return {thought, plan};
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
  if (!environment.arms().empty()) return bandit_reply(environment, style, draws);
  throw Error("warm_start_unsupported", "there are no demonstrations for this environment", "use frozen-lake or bandit");
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
  const EpisodeSpec spec{e, static_cast<int>(index), 0, first_level_seed + index, 0};
  EpisodePlayer player(state.rules[e], state.prototypes[e]->clone(), spec);
  while (!player.finished()) {
    const Reply reply = reply_to(player.environment(), state.config.warm_start, state.config.environments[e].max_actions_per_turn, draws);
    auto ids = state.tokenizer.encode(text_of(reply, state.config.rollout.think));
    ids.push_back(state.chat.turn_end());
    for (const auto id : ids) {
      const auto turns_over = player.accept(id, 0, 0).size() != 1;
      if (turns_over) break;  // the turn end, or the token limit before it
    }
  }
  return player.take();
}

}  // namespace starpo
