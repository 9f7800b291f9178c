#include <algorithm>
#include <span>
#include <unordered_set>

#include "env/sokoban/level.h"
#include "env/sokoban/sokoban.h"

namespace starpo {
namespace {

// Breadth-first search. A state is the player's cell, then the sorted cells of the boxes.
class Solver {
 public:
  using State = std::u16string;

  Solver(const SokobanLevel& level, std::size_t max_states)
      : level_(level), live_(live_cells(level)), max_states_(max_states) {}

  std::vector<SokobanDirection> solve() {
    insert(state_of(level_), 0, SokobanDirection::up);
    for (std::size_t at = 0; at < nodes_.size() && nodes_.size() < max_states_; ++at)
      for (int i = 0; i < kSokobanDirections; ++i) {
        const auto direction = static_cast<SokobanDirection>(i);
        auto next = next_state(*nodes_[at].state, direction);
        if (next.empty() || !insert(std::move(next), at, direction)) continue;
        if (is_solved(*nodes_.back().state)) return path_to(nodes_.size() - 1);
      }
    return {};
  }

 private:
  struct Node {
    const State* state;  // stable, since an unordered_set does not move its elements
    std::size_t parent;
    SokobanDirection direction;
  };

  static State state_of(const SokobanLevel& level) {
    State state(1, static_cast<char16_t>(level.player));
    for (std::size_t cell = 0; cell < level.cells.size(); ++cell)
      if (level.has_box(static_cast<int>(cell))) state += static_cast<char16_t>(cell);
    return state;
  }

  bool insert(State state, std::size_t parent, SokobanDirection direction) {
    if (nodes_.size() >= max_states_) return false;
    const auto [entry, is_new] = seen_.insert(std::move(state));
    if (is_new) nodes_.push_back({&*entry, parent, direction});
    return is_new;
  }

  // Returns the next state, or an empty state if the move is blocked or makes the level unsolvable.
  State next_state(State state, SokobanDirection direction) const {
    const int next = level_.neighbor(state[0], direction);
    if (level_.fixed[next] == SokobanCell::wall) return {};
    state[0] = static_cast<char16_t>(next);
    const auto boxes = std::span(state).subspan(1);
    const auto box = std::ranges::find(boxes, static_cast<char16_t>(next));
    if (box == boxes.end()) return state;
    const int behind = level_.neighbor(next, direction);
    const bool blocked = level_.fixed[behind] == SokobanCell::wall ||
                         std::ranges::find(boxes, static_cast<char16_t>(behind)) != boxes.end();
    if (blocked || !live_[behind]) return {};
    *box = static_cast<char16_t>(behind);
    std::ranges::sort(boxes);
    return state;
  }

  bool is_solved(const State& state) const {
    return std::all_of(state.begin() + 1, state.end(),
                       [this](char16_t cell) { return level_.fixed[cell] == SokobanCell::target; });
  }

  std::vector<SokobanDirection> path_to(std::size_t node) const {
    std::vector<SokobanDirection> path;
    for (; node != 0; node = nodes_[node].parent) path.push_back(nodes_[node].direction);
    std::ranges::reverse(path);
    return path;
  }

  const SokobanLevel& level_;
  const std::vector<bool> live_;
  std::size_t max_states_;
  std::unordered_set<State> seen_;
  std::vector<Node> nodes_;
};

// Bounds the time of a demonstration: levels that exceed this limit get a random plan.
constexpr int kMaxSolverStates = 20000;

// Returns the first push of a plan, if any, and each move with its destination: ". push Up at 3,2. path Left 3,2 Up
// 2,2". The push may come after the action limit.
std::string stepwise(const Sokoban& sokoban, const Plan& plan, int limit) {
  SokobanLevel level = sokoban.level();
  std::string first_push, path;
  int moves = 0;
  for (const auto& action : plan) {
    const int before = level.player;
    const auto move = push(level, direction_of<SokobanDirection>(action, sokoban.actions()));
    if (move.box && first_push.empty()) first_push = ". push " + action + " at" + cell_text(before, level.columns);
    if (++moves <= limit) path += " " + action + cell_text(level.player, level.columns);
  }
  return first_push + ". path" + path;
}

int first_cell(const SokobanLevel& level, auto&& matches) {
  int cell = 0;
  while (cell < static_cast<int>(level.cells.size()) && !matches(cell)) ++cell;
  return cell;
}

// Moves straight to a box, then straight to a target as if carrying the box. Solves only levels where player, box and
// target align.
Plan greedy_plan(const SokobanLevel& level, bool horizontal) {
  const int box = first_cell(level, [&](int cell) { return level.cells[cell] == SokobanCell::box; });
  const int target =
      first_cell(level, [&](int cell) { return level.fixed[cell] == SokobanCell::target && !level.has_box(cell); });
  Plan plan;
  for (const auto& [from, to] : {std::pair{level.player, box}, std::pair{box, target}}) {
    Plan path = straight_plan(to / level.columns - from / level.columns, to % level.columns - from % level.columns);
    if (horizontal) horizontal_first(path);
    plan.insert(plan.end(), path.begin(), path.end());
  }
  return plan;
}

std::string positions_of(const SokobanLevel& level) {
  std::string text = "player" + cell_text(level.player, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.has_box(cell)) text += " box" + cell_text(cell, level.columns);
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.fixed[cell] == SokobanCell::target) text += " target" + cell_text(cell, level.columns);
  return text;
}

}  // namespace

std::vector<std::string> shortest_solution(const Sokoban& sokoban, int max_states) {
  std::vector<std::string> solution;
  if (sokoban.level().cells.empty() || targets_without_box(sokoban.level()) == 0) return solution;
  const auto names = sokoban.actions();
  for (const auto direction : Solver(sokoban.level(), static_cast<std::size_t>(std::max(0, max_states))).solve())
    solution.push_back(names[static_cast<int>(direction)]);
  return solution;
}

std::optional<Demonstration> Sokoban::demonstrate(const DemonstrationRequest& request) const {
  using enum DemonstrationStyle;
  auto& draws = request.draws;
  bool mistake = request.mistake;
  // Careful reasoning halves the mistakes. Pushes are often irreversible, so training would drop reasoning that is no
  // better than guessing.
  if (request.style == careful) mistake = mistake && draws.uniform() < 0.5f;
  Plan plan;
  if (!mistake)
    plan = request.style == careful ? shortest_solution(*this, kMaxSolverStates)
                                    : greedy_plan(level_, draws.uniform() < 0.5f);
  if (plan.empty()) plan = random_plan(actions(), draws);
  const Plan whole = plan;
  truncate(plan, request.limit);

  if (request.style == plain)
    return Demonstration{draws.uniform() < 0.5f ? "I push the box." : "push the box onto the target.", plan};
  if (request.style == positions) return Demonstration{positions_of(level_) + ". go" + run_length_text(plan), plan};
  return Demonstration{positions_of(level_) + stepwise(*this, whole, request.limit), plan};
}

}  // namespace starpo
