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

const std::string_view kGpt2Regex = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Throws tokenizer_unsupported for the regular expression of tokenizer.json. `problem` is a clause ("has ...").
[[noreturn]] void refuse_regex(const std::string& problem) {
  throw Error("tokenizer_unsupported",
              "tokenizer.json: the pre_tokenizer's regular expression " + problem + ", which is not supported",
              "use a byte-level BPE tokenizer such as Qwen2's");
}

// Escapes with the same meaning in Oniguruma and PCRE2.
constexpr std::string_view kSharedEscapes = "pPdDrntfxAz";

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Returns the interval, such as {1,3}, at the start of a text, or an empty view.
std::string_view interval_of(std::string_view text) {
  const auto end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return {};
  return text.substr(1, end - 1).find_first_not_of("0123456789,") == std::string_view::npos ? text.substr(0, end + 1)
                                                                                            : std::string_view();
}

// Rejects constructs outside of classes that Oniguruma and PCRE2 interpret differently.
void check_construct(std::string_view text) {
  if (text.starts_with("(*")) refuse_regex("has a PCRE2 verb");
  // Oniguruma's (?m) is PCRE2's (?s), and its (?i) without a colon groups the alternatives that follow.
  if (text.starts_with("(?") && text.size() > 2 && (is_letter_or_digit(text[2]) || text[2] == '-') &&
      !text.starts_with("(?i:") && !text.starts_with("(?-i:"))
    refuse_regex("has an option other than (?i:...)");
  const auto interval = interval_of(text);
  if (interval.empty()) return;
  const auto after = text.substr(interval.size());
  const bool fixed = interval.find(',') == std::string_view::npos;
  // PCRE2 reads {,3} as text, {2,3}+ as possessive and {2}? as lazy. Oniguruma reads {0,3}, a repeated and an optional
  // interval.
  if (interval.starts_with("{,") || after.starts_with('+') || (fixed && after.starts_with('?')))
    refuse_regex("has " + std::string(interval) + std::string(after.substr(0, 1)));
}

// Translates a regular expression from Oniguruma syntax, which Hugging Face tokenizers use, to PCRE2 with UTF and UCP.
// \s becomes White_Space, because PCRE2's \s includes U+180E. Errors: tokenizer_unsupported.
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
      else if (is_letter_or_digit(escaped) && kSharedEscapes.find(escaped) == std::string_view::npos)
        refuse_regex(std::string("has \\") + escaped);
      else
        translated += {c, escaped};
      continue;
    }
    // Oniguruma supports nested classes and intersections, PCRE2 does not.
    if (in_class && c == '[') refuse_regex("has a nested class");
    if (in_class && regex.substr(i).starts_with("&&")) refuse_regex("has a class intersection");
    if (!in_class) check_construct(regex.substr(i));
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    translated += c;
  }
  return translated;
}

// Limits catastrophic backtracking to a fraction of a second per match. The patterns of Qwen2 and GPT-2 take a few
// steps per character.
constexpr std::uint32_t kMaxSteps = 10'000'000;
constexpr std::uint32_t kMaxHeapKibibytes = 64 * 1024;

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

  // Returns the result of pcre2_match. Falls back to the interpreter, which uses the heap, if the JIT stack overflows.
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
  std::size_t offset = 0;
  compiled->code =
      pcre2_compile(bytes_of(translated), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE, &error, &offset, nullptr);
  if (!compiled->code)
    throw Error("tokenizer_invalid",
                "tokenizer.json: the pre_tokenizer's regular expression does not compile: " + message_of(error) +
                    " at offset " + std::to_string(offset),
                "download the file again from the model's source");
  std::uint32_t matches_empty = 0;
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MATCHEMPTY, &matches_empty);
  if (matches_empty) refuse_regex("can match an empty string");
  compiled->limits = pcre2_match_context_create(nullptr);
  if (!compiled->limits) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->limits, kMaxSteps);
  pcre2_set_heap_limit(compiled->limits, kMaxHeapKibibytes);
  pcre2_jit_compile(compiled->code,
                    PCRE2_JIT_COMPLETE);  // optional: the interpreter gives the same matches
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
      throw Error(
          "tokenizer_regex_limit",
          "can't apply the tokenizer's regular expression to a text of " + std::to_string(text.size()) +
              " bytes: " + (found < 0 ? message_of(found) : "the match is empty or begins before the search position"),
          "shorten the text, or use a tokenizer with the pre_tokenizer of Qwen2");
    if (range[0] > at) pieces.push_back(text.substr(at, range[0] - at));
    pieces.push_back(text.substr(range[0], range[1] - range[0]));
    at = range[1];
  }
}

}  // namespace starpo
