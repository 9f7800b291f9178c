#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace starpo {

// Compares ASCII letters without case.
inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

// Returns the index of an action's name, or nothing if it is unknown.
template <class Names>
std::optional<int> find_action(std::string_view action, const Names& names) {
  int index = 0;
  for (const std::string_view name : names) {
    if (equal_ignoring_case(action, name)) return index;
    ++index;
  }
  return std::nullopt;
}

inline Error no_episode_error() {
  return Error("no_episode", "no episode is active: it has ended or was not started", "reset the environment first");
}

}  // namespace starpo
