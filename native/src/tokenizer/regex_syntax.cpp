#include "tokenizer/regex_syntax.h"

#include "base/error.h"

namespace starpo {
namespace {

// Letters and digits after a backslash that mean the same to both.
constexpr std::string_view shared_escapes = "pPdDrntfxAz";

constexpr bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

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
    if (!in_class && regex.substr(i).starts_with("(*")) refuse_regex("has a verb of PCRE2");
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    translated += c;
  }
  return translated;
}

}  // namespace starpo
