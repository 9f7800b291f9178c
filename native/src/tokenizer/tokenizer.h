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

// Whether an encoded text's special tokens (<|im_end|>) are recognised. As text they are split like any other, so that
// what an environment shows can't forge a control token.
enum class SpecialTokens { as_text, recognized };

// Byte-level BPE read from a Hugging Face folder's tokenizer.json. Immutable, so any number of threads may share one.
class Tokenizer {
 public:
  // Ids are those of Hugging Face's tokenizers, or the file is refused.
  // Errors: tokenizer_missing, tokenizer_invalid, tokenizer_unsupported (names the field that can't be honoured
  // exactly).
  static Tokenizer load(const std::filesystem::path& folder);

  // Added tokens that aren't special (<think>) are always recognised. Errors: tokenizer_regex_limit.
  std::vector<std::int32_t> encode(std::string_view text, SpecialTokens = SpecialTokens::as_text) const;

  // The id of an added token or of a vocabulary entry as tokenizer.json spells it. Errors: tokenizer_token_missing.
  std::int32_t token_id(std::string_view name) const;

  // The bytes of the tokens, special ones included. A cut UTF-8 sequence comes out as it is. An id that no token has
  // gives no bytes.
  std::string decode(std::span<const std::int32_t> ids) const;

  // One more than the largest id.
  int vocab_size() const;

  struct Data;

 private:
  explicit Tokenizer(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace starpo
