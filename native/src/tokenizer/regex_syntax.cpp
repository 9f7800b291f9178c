#include "tokenizer/regex_syntax.h"

#include "base/error.h"

namespace starpo {
namespace {

// Letters and digits after a backslash that mean the same to both.
constexpr std::string_view shared_escapes = "pPdDrntfxAz";

constexpr bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// An interval like {1,3} at the front of a text; empty where there is none.
std::string_view interval_of(std::string_view text) {
  const auto end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return {};
  return text.substr(1, end - 1).find_first_not_of("0123456789,") == std::string_view::npos ? text.substr(0, end + 1) : std::string_view();
}

// What Oniguruma and PCRE2 read differently outside of classes.
void check_construct(std::string_view text) {
  if (text.starts_with("(*")) refuse_regex("has a verb of PCRE2");
  // Oniguruma's (?m) is PCRE2's (?s), and its (?i) without a colon takes the alternatives that follow into a group.
  if (text.starts_with("(?") && text.size() > 2 && (is_letter_or_digit(text[2]) || text[2] == '-') && !text.starts_with("(?i:") && !text.starts_with("(?-i:"))
    refuse_regex("has an option other than (?i:...)");
  const auto interval = interval_of(text);
  if (interval.empty()) return;
  const auto after = text.substr(interval.size());
  const bool fixed = interval.find(',') == std::string_view::npos;
  // To PCRE2 {,3} is a text, {2,3}+ gives nothing back, and {2}? is no choice; to Oniguruma they are a repetition from 0, a repeated one, an optional one.
  if (interval.starts_with("{,") || after.starts_with('+') || (fixed && after.starts_with('?'))) refuse_regex("has " + std::string(interval) + std::string(after.substr(0, 1)));
}

}  // namespace

void refuse_regex(const std::string& does) {
  throw Error("tokenizer_unsupported", "tokenizer.json: the pre_tokenizer's regular expression " + does + ", which this trainer can't follow exactly",
              "use a byte-level BPE tokenizer such as Qwen2's");
}

std::string translate_regex(std::string_view regex) {
  std::string translated;
  bool in_class = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '\\' && i + 1 < regex.size()) {
      const char escaped = regex[++i];
      if (escaped == 's') translated += "\\p{White_Space}";
      else if (escaped == 'S') translated += "\\P{White_Space}";
      else if (is_letter_or_digit(escaped) && shared_escapes.find(escaped) == std::string_view::npos) refuse_regex(std::string("has \\") + escaped);
      else translated += {c, escaped};
      continue;
    }
    // Oniguruma's classes nest and intersect.
    if (in_class && c == '[') refuse_regex("has a class within a class");
    if (in_class && regex.substr(i).starts_with("&&")) refuse_regex("has an intersection of classes");
    if (!in_class) check_construct(regex.substr(i));
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    translated += c;
  }
  return translated;
}

}  // namespace starpo
