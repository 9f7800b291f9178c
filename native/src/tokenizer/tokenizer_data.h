#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/byte_pair_encoding.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

struct Tokenizer::Data {
  // Added tokens matched in the raw text, and those matched in the normalized text.
  struct Added {
    AddedTokens verbatim, normalized;
  };

  Normalizer normalizer = Normalizer::none;
  SplitPattern pattern{kGpt2Regex};
  BytePairEncoding encoding;
  Added text_tokens;                                  // not special
  Added all_tokens;                                   // including special ones
  std::unordered_map<std::string, std::int32_t> ids;  // by spelling
  std::vector<std::string> bytes;                     // [vocab_size]
};

// Errors: tokenizer_invalid, tokenizer_unsupported.
Tokenizer::Data parse_tokenizer(const std::string& json);

}  // namespace starpo
