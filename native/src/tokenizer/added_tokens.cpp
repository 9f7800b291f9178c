#include "tokenizer/added_tokens.h"

#include <utf8proc.h>

#include "tokenizer/utf8.h"

namespace starpo {
namespace {

// Enclosed letters, which are Alphabetic although their category is Symbol.
constexpr bool is_enclosed_letter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

constexpr bool is_join_control(char32_t c) { return c == 0x200C || c == 0x200D; }

// Unicode property White_Space. Invalid bytes are not white space.
bool is_white_space(char32_t c) {
  switch (c) {
    case 0x20:
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000: return true;
  }
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x2000 && c <= 0x200A);
}

// A word character (UTS 18, \w): Alphabetic, Mark, Decimal_Number, Connector_Punctuation or Join_Control, in the
// Unicode version of utf8proc.
bool is_word_character(char32_t c) {
  if (c >= kInvalidByte) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return is_enclosed_letter(c) || is_join_control(c);
  }
}

}  // namespace

void AddedTokens::add(const std::string& content, const AddedToken& token) {
  tokens_.insert_or_assign(content, token);
  lengths_[static_cast<unsigned char>(content.at(0))].insert(content.size());
}

AddedTokens::Found AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at)
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (length > text.size() - at) continue;
      if (const auto found = tokens_.find(text.substr(at, length)); found != tokens_.end())
        return {at, at + length, &found->second};
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
