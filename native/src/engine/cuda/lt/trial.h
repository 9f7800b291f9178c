#pragma once

#include <string>

#include "engine/cuda/lt/products.h"

namespace starpo::cuda::lt {

// One small product of each kind that the engine asks for, against its value: a library of another make than its name says must not spoil a run. Empty
// where all are right, else what is wrong, a part of a sentence.
std::string trial(Stream& stream, Products& products);

}  // namespace starpo::cuda::lt
