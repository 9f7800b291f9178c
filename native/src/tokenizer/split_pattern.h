#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace starpo {

// The default regular expression of ByteLevel.
extern const std::string_view kGpt2Regex;

// Splits text into the pieces within which byte pairs merge, by a regular expression of tokenizer.json. The expression
// uses Oniguruma syntax and is matched by PCRE2; constructs that differ between the two are translated or rejected.
// Immutable, so threads may share it.
class SplitPattern {
 public:
  // Errors: tokenizer_invalid (does not compile), tokenizer_unsupported (contains an unsupported construct).
  explicit SplitPattern(std::string_view regex);

  // Appends the pieces of a valid UTF-8 text in order: matches and the text between them. Errors: tokenizer_regex_limit
  // (matching takes too many steps or too much memory).
  void split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace starpo
