#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"

namespace starpo {

// Draws the random choices of one demonstration, in order.
class DemonstrationDraws {
 public:
  DemonstrationDraws(std::uint32_t seed, std::uint64_t index)
      : random_{seed, RandomStream::demonstrations}, index_(index) {}
  float uniform() {
    return uniform_open(
        random_(static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32), 0, next_++)[0]);
  }
  int below(int count) { return std::min(count - 1, static_cast<int>(uniform() * static_cast<float>(count))); }

 private:
  Philox random_;
  std::uint64_t index_;
  std::uint32_t next_ = 0;
};

// plain: reasoning without positions, greedy plan. positions: reasoning with positions, greedy plan. careful: reasoning
// with all positions and each step of the solver's plan.
enum class DemonstrationStyle { plain, positions, careful };

struct DemonstrationRequest {
  DemonstrationStyle style;
  bool mistake;  // use a random plan
  int limit;     // maximum number of actions
  DemonstrationDraws& draws;
};

using Plan = std::vector<std::string>;  // action names

struct Demonstration {
  std::string reasoning;
  Plan actions;
};

// Helpers for environments on a grid with the actions Up, Down, Left and Right.

// Returns two to four random actions.
Plan random_plan(const std::vector<std::string>& names, DemonstrationDraws&);

// Returns all vertical moves, then all horizontal ones. `down` and `right`: cells; negative means up and left.
Plan straight_plan(int down, int right);

// Moves horizontal actions to the front.
void horizontal_first(Plan&);

void truncate(Plan&, int limit);

// Returns the row and column of a cell: " 2,0".
std::string cell_text(int cell, int columns);

// Returns the moves of a plan with counts: " Down 2 Right 1".
std::string run_length_text(const Plan&);

// Returns the direction enum value of an action's name.
template <typename Direction>
Direction direction_of(const std::string& action, const std::vector<std::string>& names) {
  return static_cast<Direction>(std::ranges::find(names, action) - names.begin());
}

}  // namespace starpo
