#pragma once

#include <string>
#include <string_view>

namespace starpo {

// A regular expression in the syntax of Oniguruma, which Hugging Face's tokenizers use, in that of PCRE2 with UTF and UCP. White space (\s) is Unicode's
// White_Space, without U+180E, which PCRE2 would add. Errors: tokenizer_unsupported for what the two read differently.
std::string translate_regex(std::string_view regex);

// Throws tokenizer_unsupported: the regular expression of tokenizer.json `does`.
[[noreturn]] void refuse_regex(const std::string& does);

}  // namespace starpo
