#pragma once

#include <vector>

#include "model/config.h"

namespace starpo {

// Cosines and sines of the rotary embedding, [positions, head_dim / 2]. As in transformers, frequencies and angles are
// rounded to float.
struct RotaryTable {
  std::vector<float> cosines, sines;
  int positions = 0;

  void extend_to(const ModelConfig&, int count);
};

}  // namespace starpo
