#include "tokenizer/added_tokens.h"

#include "tokenizer/character_classes.h"
#include "tokenizer/utf8.h"

namespace starpo {

void AddedTokens::add(const std::string& content, const AddedToken& token) {
  tokens_.insert_or_assign(content, token);
  lengths_[static_cast<unsigned char>(content.at(0))].insert(content.size());
}

AddedTokens::Found AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at)
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (length > text.size() - at) continue;
      if (const auto found = tokens_.find(text.substr(at, length)); found != tokens_.end()) return {at, at + length, &found->second};
    }
  return {text.size(), text.size(), nullptr};
}

bool AddedTokens::is_within_word(std::string_view text, const Found& found) {
  return (found.begin > 0 && is_word_character(code_point_before(text, found.begin).value)) ||
         (found.end < text.size() && is_word_character(code_point_at(text, found.end).value));
}

std::size_t AddedTokens::white_space_before(std::string_view text, std::size_t end, std::size_t least) {
  while (end > least) {
    const auto [value, length] = code_point_before(text, end);
    if (!is_white_space(value)) return end;
    end -= length;
  }
  return least;
}

std::size_t AddedTokens::white_space_after(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const auto [value, length] = code_point_at(text, begin);
    if (!is_white_space(value)) break;
    begin += length;
  }
  return begin;
}

}  // namespace starpo
