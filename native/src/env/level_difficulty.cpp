#include "env/level_difficulty.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace starpo {
namespace {

constexpr std::size_t kMaxLevelStates = 4096;

struct State {
  std::unique_ptr<Environment> environment;
  std::vector<int> next;  // by action: index into states, kWon or kLost; computed on demand
};
constexpr int kWon = -1;
constexpr int kLost = -2;

// States reachable from a level's start, expanded on demand.
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
        next.push_back(result.success ? kWon : result.done ? kLost : add(std::move(environment)));
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

std::optional<double> log_random_success(const Environment& start, int actions) {
  if (start.is_stochastic() || start.actions().empty() || !start.board()) return std::nullopt;
  StateGraph graph(start);
  std::vector<double> probabilities{1};  // [states] probability of each state after the moves so far
  double success = 0;
  for (int move = 0; move < actions; ++move) {
    std::vector<double> after(graph.size());
    for (std::size_t state = 0; state < probabilities.size(); ++state) {
      if (probabilities[state] == 0) continue;
      const std::vector<int>& next = graph.next(static_cast<int>(state));
      if (graph.size() > kMaxLevelStates) return std::nullopt;
      after.resize(graph.size());
      const double share = probabilities[state] / static_cast<double>(next.size());
      for (const int to : next) {
        if (to == kWon)
          success += share;
        else if (to != kLost)
          after[to] += share;
      }
    }
    probabilities = std::move(after);
  }
  return std::log(std::max(success, kMinSuccessProbability));
}

}  // namespace starpo
