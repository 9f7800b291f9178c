#pragma once

#include <vector>

#include "model/config.h"

namespace starpo {

// Cosines and sines for rotary embeddings, [positions, head_dim / 2]. Frequencies and angles are rounded to float, as
// in transformers.
struct RotaryTable {
  std::vector<float> cosines, sines;
  int positions = 0;

  void extend_to(const ModelConfig&, int count);
};

}  // namespace starpo
