#pragma once

#include <iosfwd>

#include "tokenizer/tokenizer.h"

namespace starpo {

// Answers each line {"text": "..."} with {"ids": [...]} and {"ids": [...]} with {"text": "..."}, until the input ends (docs/formats/tokenize.md). A line
// that can't be answered gets {"error": {"code", "message"}}: malformed_line, token_out_of_vocabulary, tokenizer_regex_limit.
// Errors: file_unwritable (the answers).
void tokenize_lines(const Tokenizer&, std::istream& requests, std::ostream& answers);

}  // namespace starpo
