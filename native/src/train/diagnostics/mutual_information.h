#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/network_pass.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// Log-likelihoods of first reasoning texts given prompts, in nats, summed over the reasoning tokens.
struct ReasoningLikelihoods {
  int prompts = 0;               // number of distinct prompts
  std::vector<int> own_prompts;  // [texts] index of the text's own prompt
  std::vector<int> text_ids;     // [texts] id shared by texts with equal tokens
  std::vector<int> tokens;       // [texts]
  std::vector<double> values;    // [texts, prompts]
};

// Bounds the cost, since every reasoning text is scored given every prompt.
inline constexpr int kMaxPrompts = 8;

// Scores about `samples` first reasoning texts, evenly from the groups of at most kMaxPrompts distinct prompts, given
// each of these prompts (as token ids). A reasoning text consists of the sampled tokens up to and including the one
// that completes </think>. episodes: ordered by group. pass: of the policy that played them; gets micro-batches of at
// most `micro_batch_tokens` tokens (at least one sequence). progress is called after each.
ReasoningLikelihoods reasoning_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples,
                                           float temperature, int micro_batch_tokens,
                                           const std::function<void()>& progress);

// Adds diagnostics/mutual_information and the rest of its family: how much reasoning Z depends on the prompt X
// (RAGEN-2, with likelihoods instead of a classifier). With l(z | x) the log-likelihoods, N prompts and own prompt
// x_z:
//   H(Z | X) = -mean l(z | x_z)
//   H(Z) = -mean log (1/N sum_x exp l(z | x))
//   I(X; Z) = H(Z) - H(Z | X), at most log N
// A text is retrieved if its own prompt makes it most likely; tied prompts share the credit. Adds nothing for fewer
// than two prompts.
void add_mutual_information(const ReasoningLikelihoods&, Metrics&);

}  // namespace starpo
