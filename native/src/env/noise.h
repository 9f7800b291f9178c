#pragma once

#include <array>
#include <cstdint>

#include "base/philox.h"

namespace starpo {

// Random numbers for slips and payouts. They are independent of the level's own random numbers, so that a policy cannot
// learn to predict them from the level. Draws are numbered, so a copy continues the same stream.
class NoiseStream {
 public:
  // place: selects a stream of the key; two uses must not share one.
  NoiseStream(Philox random, std::array<std::uint32_t, 3> place) : random_(random), place_(place) {}

  // Returns a uniform number in [0, 1) with 53 bits.
  double draw() {
    const auto bits = random_(place_[0], place_[1], place_[2], drawn_++);
    return static_cast<double>(((static_cast<std::uint64_t>(bits[0]) << 32) | bits[1]) >> 11) * 0x1p-53;
  }

 private:
  Philox random_;
  std::array<std::uint32_t, 3> place_;
  std::uint32_t drawn_ = 0;
};

// Returns the noise of a fixed level, which is the same in every evaluation.
inline NoiseStream level_noise(std::uint32_t seed, std::uint64_t level) {
  return {{seed, RandomStream::evaluation_noise},
          {static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(level >> 32), 0}};
}

}  // namespace starpo
