#pragma once

#include <vector>

#include "journal/journal.h"

namespace starpo {

// How likely each of some first thoughts is after each of some prompts, in nats, summed over the thought's tokens.
struct ThoughtLikelihoods {
  int prompts = 0;             // distinct ones
  std::vector<int> own;        // [thoughts] the prompt that it was thought on
  std::vector<int> same;       // [thoughts] a number that thoughts of the same tokens share
  std::vector<int> tokens;     // [thoughts]
  std::vector<double> values;  // [thoughts, prompts]
};

// How much thoughts depend on what they are about (RAGEN-2's mutual information of prompt X and thought Z, from likelihoods in place of a classifier): diagnostics/mutual_information and
// the rest of its family. With l(z | x) the likelihoods, N prompts and each thought's own prompt x_z,
//   H(Z | X) = -mean l(z | x_z)      H(Z) = -mean log (1/N sum_x exp l(z | x))      I(X; Z) = H(Z) - H(Z | X), at most log N
// A thought is retrieved where its own prompt makes it likeliest; prompts that make it as likely share the credit. Adds nothing for fewer than two prompts.
void add_mutual_information(const ThoughtLikelihoods&, Metrics&);

}  // namespace starpo
