#pragma once

#include <concepts>
#include <string>

namespace starpo {

// Returns a number with its noun: "1 level", "2 levels".
std::string counted(std::integral auto number, const std::string& noun, const std::string& plural) {
  return std::to_string(number) + " " + (number == 1 ? noun : plural);
}

std::string counted(std::integral auto number, const std::string& noun) { return counted(number, noun, noun + "s"); }

}  // namespace starpo
