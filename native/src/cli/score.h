#pragma once

#include <iosfwd>

#include "engine/network.h"

namespace starpo {

// Answers each line {"ids": [...]} with {"logprobs": [...], "entropies": [...]} of every id but the first, at temperature 1 and in nats, until the
// input ends (docs/formats/score.md). A line that can't be scored is answered with {"error": {"code", "message"}}: malformed_line,
// token_out_of_vocabulary, sequence_too_long, non_finite_score, out_of_memory. Errors: file_unwritable (the answers).
void score_sequences(Network&, std::istream& requests, std::ostream& answers);

}  // namespace starpo
