#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace starpo {

// A token that is matched as a whole before the text is split.
struct AddedToken {
  std::int32_t id;
  bool single_word = false;  // matches only if not adjacent to a word character
  bool lstrip = false;       // also consumes white space before it
  bool rstrip = false;       // also consumes white space after it
};

class AddedTokens {
 public:
  void add(const std::string& content, const AddedToken&);

  // Splits a text: calls `plain` with the text between tokens and `token` with each token's id, in order. As in Hugging
  // Face tokenizers, the leftmost match wins, then the longest. The search resumes right after
  // the matched text, so the next match may start inside white space already consumed by rstrip.
  template <class Plain, class Token>
  void split(std::string_view text, Plain plain, Token token) const {
    std::size_t consumed = 0, white_until = 0;  // white_until: end of the white space that the last token consumed
    for (Found found = find(text, 0); found.token != nullptr; found = find(text, found.end)) {
      if (found.token->single_word && is_within_word(text, found)) continue;
      const std::size_t begin = found.token->lstrip ? white_space_before(text, found.begin, consumed) : found.begin;
      if (consumed < begin) plain(text.substr(consumed, begin - consumed));
      token(found.token->id);
      if (found.token->rstrip && found.end > white_until) white_until = white_space_after(text, found.end);
      consumed = found.token->rstrip ? white_until : found.end;
    }
    if (consumed < text.size()) plain(text.substr(consumed));
  }

 private:
  struct Found {
    std::size_t begin, end;
    const AddedToken* token;  // null: no match
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Found find(std::string_view text, std::size_t from) const;
  static bool is_within_word(std::string_view text, const Found&);
  static std::size_t white_space_before(std::string_view text, std::size_t end,
                                        std::size_t least);  // returns its start, at least `least`
  static std::size_t white_space_after(std::string_view text, std::size_t begin);  // returns its end

  std::unordered_map<std::string, AddedToken, Hash, std::equal_to<>> tokens_;
  std::array<std::set<std::size_t, std::greater<>>, 256> lengths_;  // token lengths by first byte, longest first
};

}  // namespace starpo
