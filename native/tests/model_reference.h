#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/training_pass.h"
#include "model/parameters.h"

namespace starpo::reference {

// Qwen2's forward pass as a textbook writes it, in double and one token at a time: what the engine is checked against.

struct Outputs {
  std::vector<std::vector<double>> logits;  // of every token
  std::vector<double> logprobs, entropies;  // of every target
};

Outputs forward(const ParameterLayout&, const std::vector<double>& weights, const PackedBatch&, double temperature);

// Of every target, from a layout with a value head.
std::vector<double> values(const ParameterLayout&, const std::vector<double>& weights, const PackedBatch&);

// (f(x + h) - f(x - h)) / 2h, to fourth order.
double derivative(double& x, double h, const std::function<double()>& f);

}  // namespace starpo::reference
