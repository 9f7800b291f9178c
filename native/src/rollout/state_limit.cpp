#include "rollout/state_limit.h"

#include <algorithm>
#include <span>

#include "tokenizer/utf8.h"

namespace starpo {

ShownState limit_state(const Tokenizer& tokenizer, const std::string& state, int limit) {
  if (limit == 0) return {state};
  const auto ids = tokenizer.encode(state);
  const auto kept = static_cast<std::size_t>(limit);
  if (ids.size() <= kept) return {state};
  std::string first = tokenizer.decode(std::span(ids).first((kept + 1) / 2));
  std::string last = tokenizer.decode(std::span(ids).last(kept / 2));
  // A token may end or begin within a character.
  first.resize(valid_utf8_length(first));
  const auto inside_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  last.erase(last.begin(), std::ranges::find_if_not(last, inside_character));
  return {first + "\n...\n" + last, static_cast<int>(ids.size() - kept)};
}

}  // namespace starpo
