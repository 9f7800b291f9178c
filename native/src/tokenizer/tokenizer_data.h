#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tokenizer/byte_pair_encoding.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

struct Tokenizer::Data {
  struct TextToken {
    std::string content;
    std::int32_t id;
  };

  BytePairEncoding encoding;
  SplitPattern pattern = SplitPattern::qwen2;
  std::vector<TextToken> text_tokens;                 // added tokens that aren't special, longest first
  std::unordered_map<std::string, std::int32_t> ids;  // by spelling
  std::vector<std::string> bytes;                     // [vocab_size]
};

// Errors: tokenizer_invalid, tokenizer_unsupported.
Tokenizer::Data parse_tokenizer(const std::string& json);

}  // namespace starpo
