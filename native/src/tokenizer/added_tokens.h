#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace starpo {

// Tokens that are recognised in a text as a whole, before it is split.
class AddedTokens {
 public:
  struct Found {
    std::size_t at;
    std::size_t length;  // bytes; 0 where there is none
    std::int32_t id;
  };

  void add(const std::string& content, std::int32_t id);

  // The leftmost from `from` on, of those that begin there the longest.
  Found find(std::string_view text, std::size_t from) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::array<std::set<std::size_t, std::greater<>>, 256> lengths_;  // of the tokens that begin with a byte
};

}  // namespace starpo
