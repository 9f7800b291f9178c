#include "engine/rotary_table.h"

#include "base/reproducible_math.h"

namespace starpo {

void RotaryTable::extend_to(const ModelConfig& config, int count) {
  if (count <= positions) return;
  const int half = config.head_dim / 2;
  const double log_theta = reproducible_log(config.rope_theta);
  std::vector<float> frequencies(half);
  for (int i = 0; i < half; ++i) frequencies[i] = static_cast<float>(reproducible_exp(-log_theta * i / half));
  for (int position = positions; position < count; ++position)
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      cosines.push_back(static_cast<float>(reproducible_cos(angle)));
      sines.push_back(static_cast<float>(reproducible_sin(angle)));
    }
  positions = count;
}

}  // namespace starpo
