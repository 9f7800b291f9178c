#include "train/warm_start/demonstration_replies.h"

#include <cstdlib>

#include "env/frozen_lake/solver.h"
#include "env/sokoban/solver.h"

namespace starpo {
namespace {

// Rooms that take longer to solve than this are left to chance: a demonstration must not hold up the stream.
constexpr int most_solver_states = 20000;

void cut(Plan& plan, int limit) {
  if (static_cast<int>(plan.size()) > limit) plan.resize(limit);
}

void horizontal_first(Plan& plan) {
  std::stable_partition(plan.begin(), plan.end(), [](const std::string& action) { return action == "Left" || action == "Right"; });
}

template <typename Way>
Way direction_of(const std::string& action, const std::vector<std::string>& names) {
  return static_cast<Way>(std::find(names.begin(), names.end(), action) - names.begin());
}

// "Down 1,3 Left 1,2": each of the plan's moves and where it leads, so that every step can be held against the holes.
std::string stepwise(const FrozenLake& lake, const Plan& plan) {
  std::string text;
  int cell = lake.player();
  for (const auto& action : plan) {
    cell = neighbour(lake.level(), cell, direction_of<Direction>(action, lake.actions()));
    text += " " + action + place(cell, lake.level().size);
  }
  return text;
}

// ". push Up at 3,2. path Left 3,2 Up 2,2": the plan's first push, if it has one, then the moves and where they lead. The push may lie beyond the turn's limit.
std::string stepwise(const Sokoban& sokoban, const Plan& plan, int limit) {
  SokobanLevel level = sokoban.level();
  std::string first_push, path;
  int moves = 0;
  for (const auto& action : plan) {
    const int before = level.player;
    const auto move = push(level, direction_of<SokobanDirection>(action, sokoban.actions()));
    if (move.box && first_push.empty()) first_push = ". push " + action + " at" + place(before, level.columns);
    if (++moves <= limit) path += " " + action + place(level.player, level.columns);
  }
  return first_push + ". path" + path;
}

int first_cell(const SokobanLevel& level, auto&& is_wanted) {
  int cell = 0;
  while (cell < static_cast<int>(level.cells.size()) && !is_wanted(cell)) ++cell;
  return cell;
}

// Straight to a box and on, as if it were carried, to a target: right where agent, box and target happen to stand so.
Plan greedy_plan(const SokobanLevel& level, bool horizontal) {
  const int box = first_cell(level, [&](int cell) { return level.cells[cell] == SokobanCell::box; });
  const int target = first_cell(level, [&](int cell) { return level.fixed[cell] == SokobanCell::target && !level.has_box(cell); });
  Plan plan;
  for (const auto& [from, to] : {std::pair{level.player, box}, std::pair{box, target}}) {
    Plan way = straight_plan(to / level.columns - from / level.columns, to % level.columns - from % level.columns);
    if (horizontal) horizontal_first(way);
    plan.insert(plan.end(), way.begin(), way.end());
  }
  return plan;
}

std::string positions(const SokobanLevel& level) {
  std::string text = "player" + place(level.player, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.has_box(cell)) text += " box" + place(cell, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.fixed[cell] == SokobanCell::target) text += " target" + place(cell, level.columns);
  return text;
}

}  // namespace

Plan random_plan(const std::vector<std::string>& names, Draws& draws) {
  Plan plan(2 + draws.below(3));
  for (auto& action : plan) action = names[draws.below(static_cast<int>(names.size()))];
  return plan;
}

Plan straight_plan(int down, int right) {
  Plan plan(std::abs(down), down > 0 ? "Down" : "Up");
  plan.insert(plan.end(), std::abs(right), right > 0 ? "Right" : "Left");
  return plan;
}

std::string place(int cell, int columns) { return " " + std::to_string(cell / columns) + "," + std::to_string(cell % columns); }

std::string counted(const Plan& plan) {
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
  Plan plan = mistake ? random_plan(lake.actions(), draws) : style == Style::careful ? shortest_safe_path(lake) : greedy_path(lake);
  if (!mistake && style != Style::careful && draws.uniform() < 0.5f) horizontal_first(plan);
  cut(plan, limit);

  const auto& level = lake.level();
  const std::string ends = "player" + place(lake.player(), level.size) + " goal" + place(level.goal, level.size);
  if (style == Style::plain) return {draws.uniform() < 0.5f ? "I go to the goal." : "try the way to the goal.", plan};
  if (style == Style::positions) return {ends + ". go" + counted(plan), plan};
  std::string holes;
  for (int cell = 0; cell < level.size * level.size; ++cell)
    if (level.holes[cell]) holes += " hole" + place(cell, level.size);
  return {ends + holes + ". safe path" + stepwise(lake, plan), plan};
}

Reply sokoban_reply(const Sokoban& sokoban, Style style, bool mistake, int limit, Draws& draws) {
  // A careful look catches half of the mistakes. Where thinking paid no more than guessing, reinforcement would drop it at once: a box can't be unpushed.
  if (style == Style::careful) mistake = mistake && draws.uniform() < 0.5f;
  Plan plan;
  if (!mistake) plan = style == Style::careful ? shortest_solution(sokoban, most_solver_states) : greedy_plan(sokoban.level(), draws.uniform() < 0.5f);
  if (plan.empty()) plan = random_plan(sokoban.actions(), draws);
  const Plan whole = plan;
  cut(plan, limit);

  if (style == Style::plain) return {draws.uniform() < 0.5f ? "I push the box." : "push the box onto the target.", plan};
  if (style == Style::positions) return {positions(sokoban.level()) + ". go" + counted(plan), plan};
  return {positions(sokoban.level()) + stepwise(sokoban, whole, limit), plan};
}

}  // namespace starpo
