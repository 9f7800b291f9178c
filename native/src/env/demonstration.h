#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"

namespace starpo {

// The random choices of one demonstration, in order.
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

// plain: a thought that names no position, and a greedy plan; positions: it reads them, the plan is greedy all the
// same; careful: it reads all that matters and follows the solver's plan step by step.
enum class DemonstrationStyle { plain, positions, careful };

struct DemonstrationRequest {
  DemonstrationStyle style;
  bool mistake;  // the plan is random
  int limit;     // most actions
  DemonstrationDraws& draws;
};

using Plan = std::vector<std::string>;  // action names

struct Demonstration {
  std::string thought;
  Plan actions;
};

// What environments on a grid with Up, Down, Left and Right demonstrate with.

// Two to four actions without aim.
Plan random_plan(const std::vector<std::string>& names, DemonstrationDraws&);

// Straight: all vertical moves, then all horizontal ones. `down` and `right` in cells, negative for the other way.
Plan straight_plan(int down, int right);

void horizontal_first(Plan&);

void cut(Plan&, int limit);

// " 2,0": row and column of a cell.
std::string place(int cell, int columns);

// " Down 2 Right 1": the plan's moves, counted.
std::string counted(const Plan&);

// The place of an action's name among them all.
template <typename Way>
Way direction_of(const std::string& action, const std::vector<std::string>& names) {
  return static_cast<Way>(std::ranges::find(names, action) - names.begin());
}

}  // namespace starpo
