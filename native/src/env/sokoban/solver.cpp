#include "env/sokoban/solver.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "env/sokoban/dead_end.h"

namespace starpo {
namespace {

// Breadth-first over states: the player's cell, then the boxes' cells in order.
class Solver {
 public:
  using State = std::u16string;

  Solver(const SokobanLevel& level, std::size_t most_states) : level_(level), live_(live_cells(level)), most_states_(most_states) {}

  std::vector<SokobanDirection> solve() {
    remember(state_of(level_), 0, SokobanDirection::up);
    for (std::size_t at = 0; at < nodes_.size() && nodes_.size() < most_states_; ++at)
      for (int i = 0; i < sokoban_directions; ++i) {
        const auto direction = static_cast<SokobanDirection>(i);
        auto next = after(*nodes_[at].state, direction);
        if (next.empty() || !remember(std::move(next), at, direction)) continue;
        if (is_solved(*nodes_.back().state)) return way_to(nodes_.size() - 1);
      }
    return {};
  }

 private:
  struct Node {
    const State* state;  // an unordered_set keeps its elements where they are
    std::size_t parent;
    SokobanDirection direction;
  };

  static State state_of(const SokobanLevel& level) {
    State state(1, static_cast<char16_t>(level.player));
    for (std::size_t cell = 0; cell < level.cells.size(); ++cell)
      if (level.has_box(static_cast<int>(cell))) state += static_cast<char16_t>(cell);
    return state;
  }

  bool remember(State state, std::size_t parent, SokobanDirection direction) {
    if (nodes_.size() >= most_states_) return false;
    const auto [place, is_new] = seen_.insert(std::move(state));
    if (is_new) nodes_.push_back({&*place, parent, direction});
    return is_new;
  }

  // Empty where the move is blocked or leads to a dead end.
  State after(State state, SokobanDirection direction) const {
    const int next = level_.neighbour(state[0], direction);
    if (level_.fixed[next] == SokobanCell::wall) return {};
    state[0] = static_cast<char16_t>(next);
    const auto boxes = std::span(state).subspan(1);
    const auto box = std::ranges::find(boxes, static_cast<char16_t>(next));
    if (box == boxes.end()) return state;
    const int behind = level_.neighbour(next, direction);
    const bool blocked = level_.fixed[behind] == SokobanCell::wall || std::ranges::find(boxes, static_cast<char16_t>(behind)) != boxes.end();
    if (blocked || !live_[behind]) return {};
    *box = static_cast<char16_t>(behind);
    std::ranges::sort(boxes);
    return state;
  }

  bool is_solved(const State& state) const {
    return std::all_of(state.begin() + 1, state.end(), [this](char16_t cell) { return level_.fixed[cell] == SokobanCell::target; });
  }

  std::vector<SokobanDirection> way_to(std::size_t node) const {
    std::vector<SokobanDirection> way;
    for (; node != 0; node = nodes_[node].parent) way.push_back(nodes_[node].direction);
    std::ranges::reverse(way);
    return way;
  }

  const SokobanLevel& level_;
  const std::vector<bool> live_;
  std::size_t most_states_;
  std::unordered_set<State> seen_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<std::string> shortest_solution(const Sokoban& sokoban, int most_states) {
  std::vector<std::string> solution;
  if (sokoban.level().cells.empty() || targets_without_box(sokoban.level()) == 0) return solution;
  const auto names = sokoban.actions();
  for (const auto direction : Solver(sokoban.level(), static_cast<std::size_t>(std::max(0, most_states))).solve()) solution.push_back(names[static_cast<int>(direction)]);
  return solution;
}

}  // namespace starpo
