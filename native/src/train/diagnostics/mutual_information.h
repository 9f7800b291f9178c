#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/network_pass.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// How likely each of some first thoughts is after each of some prompts, in nats, summed over the thought's tokens.
struct ThoughtLikelihoods {
  int prompts = 0;             // distinct ones
  std::vector<int> own;        // [thoughts] the prompt that it was thought on
  std::vector<int> same;       // [thoughts] a number that thoughts of the same tokens share
  std::vector<int> tokens;     // [thoughts]
  std::vector<double> values;  // [thoughts, prompts]
};

// More would cost more than they tell: a thought is scored under each.
inline constexpr int most_prompts = 8;

// Scores first thoughts under the first prompts of their levels: about `samples` of them, evenly from all groups, under
// at most most_prompts distinct prompts (as token ids). A thought is what was sampled up to and including the token
// that completes </think>; prompts are what stands before it. episodes: group by group. pass: of the policy that played
// them; it is given micro-batches of at most `micro_batch_tokens` tokens (one sequence at least), and progress is
// called after each.
ThoughtLikelihoods thought_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples,
                                       float temperature, int micro_batch_tokens,
                                       const std::function<void()>& progress);

// How much thoughts depend on what they are about (RAGEN-2's mutual information of prompt X and thought Z, from
// likelihoods in place of a classifier): diagnostics/mutual_information and the rest of its family. With l(z | x) the
// likelihoods, N prompts and each thought's own prompt x_z,
//   H(Z | X) = -mean l(z | x_z)      H(Z) = -mean log (1/N sum_x exp l(z | x))      I(X; Z) = H(Z) - H(Z | X), at most
//   log N
// A thought is retrieved where its own prompt makes it likeliest; prompts that make it as likely share the credit. Adds
// nothing for fewer than two prompts.
void add_mutual_information(const ThoughtLikelihoods&, Metrics&);

}  // namespace starpo
