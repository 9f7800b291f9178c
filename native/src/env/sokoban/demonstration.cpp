#include "env/sokoban/sokoban.h"
#include "env/sokoban/solver.h"

namespace starpo {
namespace {

// Rooms that take longer to solve than this are left to chance: a demonstration must not hold up the stream.
constexpr int most_solver_states = 20000;

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

std::string positions_of(const SokobanLevel& level) {
  std::string text = "player" + place(level.player, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.has_box(cell)) text += " box" + place(cell, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.fixed[cell] == SokobanCell::target) text += " target" + place(cell, level.columns);
  return text;
}

}  // namespace

std::optional<Demonstration> Sokoban::demonstrate(const DemonstrationRequest& request) const {
  using enum DemonstrationStyle;
  auto& draws = request.draws;
  bool mistake = request.mistake;
  // A careful look catches half of the mistakes. Where thinking paid no more than guessing, reinforcement would drop it at once: a box can't be unpushed.
  if (request.style == careful) mistake = mistake && draws.uniform() < 0.5f;
  Plan plan;
  if (!mistake) plan = request.style == careful ? shortest_solution(*this, most_solver_states) : greedy_plan(level_, draws.uniform() < 0.5f);
  if (plan.empty()) plan = random_plan(actions(), draws);
  const Plan whole = plan;
  cut(plan, request.limit);

  if (request.style == plain) return Demonstration{draws.uniform() < 0.5f ? "I push the box." : "push the box onto the target.", plan};
  if (request.style == positions) return Demonstration{positions_of(level_) + ". go" + counted(plan), plan};
  return Demonstration{positions_of(level_) + stepwise(*this, whole, request.limit), plan};
}

}  // namespace starpo
