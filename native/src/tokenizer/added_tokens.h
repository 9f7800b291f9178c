#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace starpo {

// A token that is recognised in a text as a whole, before the text is split.
struct AddedToken {
  std::int32_t id;
  bool single_word = false;  // not next to a character of a word
  bool lstrip = false;       // takes the white space before it, as far as no token took it
  bool rstrip = false;       // takes the white space after it
};

class AddedTokens {
 public:
  void add(const std::string& content, const AddedToken&);

  // Hands over a text in order: what lies between tokens to `plain`, the ids of tokens to `token`. As in Hugging Face's
  // tokenizers the leftmost token counts, of those that begin there the longest, and is looked for behind the last
  // one's content, though that may have taken white space from there.
  template <class Plain, class Token>
  void split(std::string_view text, Plain plain, Token token) const {
    std::size_t given = 0, white_until = 0;  // the latter: where the white space ends that a token took
    for (Found found = find(text, 0); found.token != nullptr; found = find(text, found.end)) {
      if (found.token->single_word && is_within_word(text, found)) continue;
      const std::size_t begin = found.token->lstrip ? white_space_before(text, found.begin, given) : found.begin;
      if (given < begin) plain(text.substr(given, begin - given));
      token(found.token->id);
      if (found.token->rstrip && found.end > white_until) white_until = white_space_after(text, found.end);
      given = found.token->rstrip ? white_until : found.end;
    }
    if (given < text.size()) plain(text.substr(given));
  }

 private:
  struct Found {
    std::size_t begin, end;
    const AddedToken* token;  // null where there is none
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Found find(std::string_view text, std::size_t from) const;
  static bool is_within_word(std::string_view text, const Found&);
  static std::size_t white_space_before(std::string_view text, std::size_t end,
                                        std::size_t least);  // where it begins, not before `least`
  static std::size_t white_space_after(std::string_view text, std::size_t begin);  // where it ends

  std::unordered_map<std::string, AddedToken, Hash, std::equal_to<>> tokens_;
  std::array<std::set<std::size_t, std::greater<>>, 256> lengths_;  // of the tokens that begin with a byte
};

}  // namespace starpo
