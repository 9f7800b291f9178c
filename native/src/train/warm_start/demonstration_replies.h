#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/philox.h"
#include "env/frozen_lake/frozen_lake.h"
#include "env/sokoban/sokoban.h"

namespace starpo {

// The random choices of one demonstration, in order.
class Draws {
 public:
  Draws(std::uint32_t seed, std::uint32_t index) : random_{seed, RandomStream::demonstrations}, index_(index) {}
  float uniform() { return uniform_open(random_(index_, 0, 0, next_++)[0]); }
  int below(int count) { return std::min(count - 1, static_cast<int>(uniform() * static_cast<float>(count))); }

 private:
  Philox random_;
  std::uint32_t index_, next_ = 0;
};

// plain: a thought that names no position, and a greedy plan; positions: it reads them, the plan is greedy all the same;
// careful: it reads all that matters and follows the solver's plan step by step.
enum class Style { plain, positions, careful };

struct Reply {
  std::string thought;
  std::vector<std::string> actions;
};

using Plan = std::vector<std::string>;  // action names

// Two to four actions without aim.
Plan random_plan(const std::vector<std::string>& names, Draws&);

// Straight: all vertical moves, then all horizontal ones. `down` and `right` in cells, negative for the other way.
Plan straight_plan(int down, int right);

// " 2,0": row and column of a cell.
std::string place(int cell, int columns);

// " Down 2 Right 1": the plan's moves, counted.
std::string counted(const Plan&);

// A reply of at most `limit` actions; with `mistake` its plan is random.
Reply lake_reply(const FrozenLake&, Style, bool mistake, int limit, Draws&);
Reply sokoban_reply(const Sokoban&, Style, bool mistake, int limit, Draws&);

}  // namespace starpo
