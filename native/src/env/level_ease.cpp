#include "env/level_ease.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace starpo {
namespace {

constexpr std::size_t most_states_of_level = 4096;

struct State {
  std::unique_ptr<Environment> environment;
  std::vector<int> next;  // by action: an index of states, or one of the two below; empty until it is asked for
};
constexpr int won = -1;
constexpr int over = -2;

// What can be reached from a level's start, found as it is asked for.
class StateGraph {
 public:
  explicit StateGraph(const Environment& start) : actions_(start.actions()) { add(start.clone()); }

  std::size_t size() const { return states_.size(); }

  const std::vector<int>& next(int state) {
    if (states_[state].next.empty()) {
      std::vector<int> next;
      for (const std::string& action : actions_) {
        auto environment = states_[state].environment->clone();
        const StepResult result = environment->step(action);
        next.push_back(result.success ? won : result.done ? over : add(std::move(environment)));
      }
      states_[state].next = std::move(next);
    }
    return states_[state].next;
  }

 private:
  int add(std::unique_ptr<Environment> environment) {
    const auto [found, is_new] = by_board_.try_emplace(*environment->board(), static_cast<int>(states_.size()));
    if (is_new) states_.push_back({std::move(environment), {}});
    return found->second;
  }

  std::vector<std::string> actions_;
  std::vector<State> states_;
  std::map<std::string, int> by_board_;
};

}  // namespace

std::optional<double> level_ease(const Environment& start, int actions) {
  if (start.leaves_to_chance() || start.actions().empty() || !start.board()) return std::nullopt;
  StateGraph graph(start);
  std::vector<double> chances{1};  // by state, of being there after the moves so far
  double chance = 0;
  for (int move = 0; move < actions; ++move) {
    std::vector<double> after(graph.size());
    for (std::size_t state = 0; state < chances.size(); ++state) {
      if (chances[state] == 0) continue;
      const std::vector<int>& next = graph.next(static_cast<int>(state));
      if (graph.size() > most_states_of_level) return std::nullopt;
      after.resize(graph.size());
      const double share = chances[state] / static_cast<double>(next.size());
      for (const int to : next) {
        if (to == won)
          chance += share;
        else if (to != over)
          after[to] += share;
      }
    }
    chances = std::move(after);
  }
  return std::log(std::max(chance, least_chance));
}

}  // namespace starpo
