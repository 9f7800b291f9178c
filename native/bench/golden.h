#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/thread_pool.h"
#include "engine/engine.h"

namespace starpo {

// Differences from the results of another implementation (native/tests/goldens/make.py) for a packed batch:
// log-probabilities, entropies, loss, gradients, and the weights after three AdamW steps. A formula gives the initial
// weights.
struct GoldenDifferences {
  std::map<std::string, double> relative;  // by kind
  double largest_logprob = 0;              // in nats
};
// Returns |computed - reference| / |reference| over all numbers of a kind: logprobs, entropies, loss, gradient_norm,
// gradients, weight_changes and, on the CPU, logits. Errors: std::runtime_error if the file is not a golden file.
GoldenDifferences compare_with_golden(const std::filesystem::path& file, Engine&, ThreadPool&);

}  // namespace starpo
