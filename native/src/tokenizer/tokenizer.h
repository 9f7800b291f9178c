#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace starpo {

// Handling of special tokens such as <|im_end|> in a text. as_text splits them like other text, so that an
// environment's observation can't forge a control token.
enum class SpecialTokens { as_text, recognized };

// A byte-level BPE tokenizer, read from a Hugging Face tokenizer.json. Immutable, so threads may share it.
class Tokenizer {
 public:
  // Loads tokenizer.json. Rejects a file whose ids could differ from Hugging Face's. Errors:
  // tokenizer_missing, tokenizer_invalid, tokenizer_unsupported (names the field).
  static Tokenizer load(const std::filesystem::path& folder);

  // Returns the token ids. Added tokens that are not special (<think>) are always recognized. Errors:
  // tokenizer_regex_limit.
  std::vector<std::int32_t> encode(std::string_view text, SpecialTokens = SpecialTokens::as_text) const;

  // Returns the id of an added token or a vocabulary entry, as spelled in tokenizer.json. Errors:
  // tokenizer_token_missing.
  std::int32_t token_id(std::string_view name) const;

  // Returns the bytes of the tokens, including special ones. Incomplete UTF-8 is not replaced. Unknown ids are skipped.
  std::string decode(std::span<const std::int32_t> ids) const;

  // Returns the largest id plus 1.
  int vocab_size() const;

  struct Data;

 private:
  explicit Tokenizer(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace starpo
