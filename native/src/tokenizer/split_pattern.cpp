#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/split_pattern.h"

#include <pcre2.h>

#include <array>
#include <cstdint>
#include <new>

#include "base/error.h"

static_assert(PCRE2_MAJOR > 10 || (PCRE2_MAJOR == 10 && PCRE2_MINOR >= 40),
              "PCRE2 10.40 or newer is needed, for \\p{White_Space}");

namespace starpo {

const std::string_view gpt2_regex = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Throws tokenizer_unsupported: the regular expression of tokenizer.json `does`.
[[noreturn]] void refuse_regex(const std::string& does) {
  throw Error(
      "tokenizer_unsupported",
      "tokenizer.json: the pre_tokenizer's regular expression " + does + ", which this trainer can't follow exactly",
      "use a byte-level BPE tokenizer such as Qwen2's");
}

// Letters and digits after a backslash that mean the same to both.
constexpr std::string_view shared_escapes = "pPdDrntfxAz";

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// An interval like {1,3} at the front of a text; empty where there is none.
std::string_view interval_of(std::string_view text) {
  const auto end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return {};
  return text.substr(1, end - 1).find_first_not_of("0123456789,") == std::string_view::npos ? text.substr(0, end + 1)
                                                                                            : std::string_view();
}

// What Oniguruma and PCRE2 read differently outside of classes.
void check_construct(std::string_view text) {
  if (text.starts_with("(*")) refuse_regex("has a verb of PCRE2");
  // Oniguruma's (?m) is PCRE2's (?s), and its (?i) without a colon takes the alternatives that follow into a group.
  if (text.starts_with("(?") && text.size() > 2 && (is_letter_or_digit(text[2]) || text[2] == '-') &&
      !text.starts_with("(?i:") && !text.starts_with("(?-i:"))
    refuse_regex("has an option other than (?i:...)");
  const auto interval = interval_of(text);
  if (interval.empty()) return;
  const auto after = text.substr(interval.size());
  const bool fixed = interval.find(',') == std::string_view::npos;
  // To PCRE2 {,3} is a text, {2,3}+ gives nothing back, and {2}? is no choice; to Oniguruma they are a repetition from
  // 0, a repeated one, an optional one.
  if (interval.starts_with("{,") || after.starts_with('+') || (fixed && after.starts_with('?')))
    refuse_regex("has " + std::string(interval) + std::string(after.substr(0, 1)));
}

// A regular expression in the syntax of Oniguruma, which Hugging Face's tokenizers use, in that of PCRE2 with UTF and
// UCP. White space (\s) is Unicode's White_Space, without U+180E, which PCRE2 would add. Errors: tokenizer_unsupported
// for what the two read differently.
std::string translate_regex(std::string_view regex) {
  std::string translated;
  bool in_class = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '\\' && i + 1 < regex.size()) {
      const char escaped = regex[++i];
      if (escaped == 's')
        translated += "\\p{White_Space}";
      else if (escaped == 'S')
        translated += "\\P{White_Space}";
      else if (is_letter_or_digit(escaped) && shared_escapes.find(escaped) == std::string_view::npos)
        refuse_regex(std::string("has \\") + escaped);
      else
        translated += {c, escaped};
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

// Qwen2's and GPT-2's patterns take a few steps a character. These bound one match of a pattern that backtracks without
// end to a fraction of a second.
constexpr std::uint32_t most_steps = 10'000'000;
constexpr std::uint32_t most_heap_kibibytes = 64 * 1024;

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct SplitPattern::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_match_context_free(limits);
    pcre2_code_free(code);
  }

  // A match's result as pcre2_match gives it. What outgrows the compiled code's small stack is matched again by the
  // interpreter, whose memory is on the heap.
  int match(std::string_view text, std::size_t at, pcre2_match_data* data) const {
    const int found = pcre2_match(code, bytes_of(text), text.size(), at, PCRE2_NO_UTF_CHECK, data, limits);
    if (found != PCRE2_ERROR_JIT_STACKLIMIT) return found;
    return pcre2_match(code, bytes_of(text), text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, limits);
  }

  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
};

SplitPattern::SplitPattern(std::string_view regex) {
  const auto compiled = std::make_shared<Compiled>();
  const std::string translated = translate_regex(regex);
  int error = 0;
  std::size_t place = 0;
  compiled->code =
      pcre2_compile(bytes_of(translated), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE, &error, &place, nullptr);
  if (!compiled->code)
    throw Error("tokenizer_invalid",
                "tokenizer.json: the pre_tokenizer's regular expression doesn't compile: " + message_of(error) +
                    " at place " + std::to_string(place),
                "take the file again from where the model came from");
  std::uint32_t matches_nothing = 0;
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
  if (matches_nothing) refuse_regex("can match without a character");
  compiled->limits = pcre2_match_context_create(nullptr);
  if (!compiled->limits) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->limits, most_steps);
  pcre2_set_heap_limit(compiled->limits, most_heap_kibibytes);
  pcre2_jit_compile(compiled->code,
                    PCRE2_JIT_COMPLETE);  // where the system allows none, the interpreter gives the same matches
  compiled_ = compiled;
}

void SplitPattern::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  const std::unique_ptr<pcre2_match_data, FreeMatchData> data(pcre2_match_data_create(1, nullptr));
  if (!data) throw std::bad_alloc();
  for (std::size_t at = 0; at < text.size();) {
    const int found = compiled_->match(text, at, data.get());
    if (found == PCRE2_ERROR_NOMATCH) {
      pieces.push_back(text.substr(at));
      return;
    }
    const std::size_t* const range = pcre2_get_ovector_pointer(data.get());
    if (found < 0 || range[0] < at || range[1] <= range[0])
      throw Error("tokenizer_regex_limit",
                  "the tokenizer's regular expression can't be matched to a text of " + std::to_string(text.size()) +
                      " bytes: " + (found < 0 ? message_of(found) : "it goes backwards"),
                  "shorten the text, or use a tokenizer whose pre_tokenizer is Qwen2's");
    if (range[0] > at) pieces.push_back(text.substr(at, range[0] - at));
    pieces.push_back(text.substr(range[0], range[1] - range[0]));
    at = range[1];
  }
}

}  // namespace starpo
