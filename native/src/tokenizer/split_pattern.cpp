#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/split_pattern.h"

#include <pcre2.h>

#include <array>
#include <cstdint>
#include <new>

#include "base/error.h"
#include "tokenizer/regex_syntax.h"

static_assert(PCRE2_MAJOR > 10 || (PCRE2_MAJOR == 10 && PCRE2_MINOR >= 40), "PCRE2 10.40 or newer is needed, for \\p{White_Space}");

namespace starpo {

const std::string_view gpt2_regex = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Qwen2's and GPT-2's patterns take a few steps a character. These bound one match of a pattern that backtracks without end to a fraction of a second.
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

  // A match's result as pcre2_match gives it. What outgrows the compiled code's small stack is matched again by the interpreter, whose memory is on the heap.
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
  compiled->code = pcre2_compile(bytes_of(translated), translated.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE, &error, &place, nullptr);
  if (!compiled->code)
    throw Error("tokenizer_invalid", "tokenizer.json: the pre_tokenizer's regular expression doesn't compile: " + message_of(error) + " at place " + std::to_string(place),
                "take the file again from where the model came from");
  std::uint32_t matches_nothing = 0;
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
  if (matches_nothing) refuse_regex("can match without a character");
  compiled->limits = pcre2_match_context_create(nullptr);
  if (!compiled->limits) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->limits, most_steps);
  pcre2_set_heap_limit(compiled->limits, most_heap_kibibytes);
  pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);  // where the system allows none, the interpreter gives the same matches
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
                  "the tokenizer's regular expression can't be matched to a text of " + std::to_string(text.size()) + " bytes: " + (found < 0 ? message_of(found) : "it goes backwards"),
                  "shorten the text, or use a tokenizer whose pre_tokenizer is Qwen2's");
    if (range[0] > at) pieces.push_back(text.substr(at, range[0] - at));
    pieces.push_back(text.substr(range[0], range[1] - range[0]));
    at = range[1];
  }
}

}  // namespace starpo
