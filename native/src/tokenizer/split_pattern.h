#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// The regular expression of ByteLevel, where a tokenizer.json names no other.
extern const std::string_view gpt2_regex;

// How text is cut into the pieces within which byte pairs merge: a regular expression as tokenizer.json gives it, in
// Oniguruma's syntax, matched by PCRE2. Where the two read a construct differently it is translated or refused.
// Immutable, so any number of threads may share one.
class SplitPattern {
 public:
  // Errors: tokenizer_invalid (it doesn't compile), tokenizer_unsupported (a construct that can't be followed exactly).
  explicit SplitPattern(std::string_view regex);

  // Appends the pieces of valid UTF-8, in order and without a gap: matches, and what lies between them.
  // Errors: tokenizer_regex_limit (matching takes too many steps or too much memory).
  void split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace starpo
