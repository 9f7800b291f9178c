#pragma once

#include <array>
#include <cstdint>

#include "base/philox.h"

namespace starpo {

// What is left to chance within an episode, slips and payouts, drawn apart from its level: luck that came out of the
// level's own random numbers could be read off the level by a policy that has seen enough of them. Draws are numbered,
// so a copy goes on where it was made.
class NoiseStream {
 public:
  // place: which of the key's streams; no two uses may share one.
  NoiseStream(Philox random, std::array<std::uint32_t, 3> place) : random_(random), place_(place) {}

  // Uniform in [0, 1), 53 bits.
  double draw() {
    const auto bits = random_(place_[0], place_[1], place_[2], drawn_++);
    return static_cast<double>(((static_cast<std::uint64_t>(bits[0]) << 32) | bits[1]) >> 11) * 0x1p-53;
  }

 private:
  Philox random_;
  std::array<std::uint32_t, 3> place_;
  std::uint32_t drawn_ = 0;
};

// A fixed level's luck: the same whenever, and by whomever, it is played.
inline NoiseStream level_noise(std::uint32_t seed, std::uint64_t level) {
  return {{seed, RandomStream::evaluation_noise},
          {static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(level >> 32), 0}};
}

}  // namespace starpo
