#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace starpo {

// Without case, for ASCII letters.
inline bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

// The index of an action's name, or nothing.
template <class Names>
std::optional<int> find_action(std::string_view action, const Names& names) {
  int index = 0;
  for (const std::string_view name : names) {
    if (same_name(action, name)) return index;
    ++index;
  }
  return std::nullopt;
}

inline Error no_episode() {
  return Error("no_episode", "there is no episode: it has ended or was never begun", "reset the environment first");
}

}  // namespace starpo
