#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/thread_pool.h"
#include "engine/engine.h"

namespace starpo {

// What a model computes, as another implementation computed it (native/tests/goldens/make.py): a packed batch's
// log-probabilities, entropies, loss and gradients, and what three AdamW steps make of the weights, which are made anew
// from a formula.
struct GoldenDifferences {
  std::map<std::string, double> relative;  // by kind
  double largest_logprob = 0;              // in nats
};
// By name (logprobs, entropies, losses, gradient_norms, gradients, weight_changes; logits on a processor), how far the
// engine is from it: |ours - theirs| / |theirs| over all numbers of that kind. Errors: std::runtime_error for what is
// no golden file.
GoldenDifferences compare_with_golden(const std::filesystem::path& file, Engine&, ThreadPool&);

}  // namespace starpo
