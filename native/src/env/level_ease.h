#pragma once

#include <optional>

#include "env/environment.h"

namespace starpo {

// How easy a level is: the natural logarithm of the chance that so many actions, each drawn evenly from those there
// are, succeed; at least that of `least_chance`. By it the luck of an iteration's levels can be told from what a policy
// can do. The states that moves lead to are told apart by their boards, so that each is stepped from but once. Nothing
// for an environment that has no board, takes free text or leaves something to chance, and for a level with more than
// some thousand states in reach. `start`: after reset.
std::optional<double> level_ease(const Environment& start, int actions);

inline constexpr double least_chance = 0.001;

}  // namespace starpo
