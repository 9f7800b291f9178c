#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/training_pass.h"
#include "model/parameters.h"

namespace starpo::reference {

// Reference implementation of Qwen2's forward pass, in double precision and one token at a time.

struct Outputs {
  std::vector<std::vector<double>> logits;  // [tokens][vocab]
  std::vector<double> logprobs, entropies;  // [targets]
};

Outputs forward(const ParameterLayout&, const std::vector<double>& weights, const PackedBatch&, double temperature);

// Returns the value of each target, for a layout with a value head.
std::vector<double> values(const ParameterLayout&, const std::vector<double>& weights, const PackedBatch&);

// Returns the derivative of f by central differences of fourth order.
double derivative(double& x, double h, const std::function<double()>& f);

}  // namespace starpo::reference
