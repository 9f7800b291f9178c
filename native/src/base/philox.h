#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"

namespace starpo {

// The purpose of a random draw. With the run's seed it forms the generator's key, so each purpose has its own stream.
enum class RandomStream : std::uint32_t {
  initial_weights = 1,
  train_sampling = 2,
  evaluation_sampling = 3,
  demonstrations = 4,
  environment_noise = 5,
  evaluation_noise = 6,
  probe_sampling = 7,
  replay = 8,
};

// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): a keyed bijection of a 128-bit
// counter, in place.
STARPO_HOST_DEVICE inline void philox(std::uint32_t (&c)[4], std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c[0] = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0;
    c[1] = static_cast<std::uint32_t>(p1);
    c[2] = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1;
    c[3] = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

// A draw is a pure function of its key and counter, so sampling does not depend on batch, thread or order.
struct Philox {
  std::uint32_t seed;
  RandomStream stream;

  std::array<std::uint32_t, 4> operator()(std::uint32_t iteration, std::uint32_t episode, std::uint32_t position,
                                          std::uint32_t draw) const {
    std::uint32_t c[4] = {iteration, episode, position, draw};
    philox(c, seed, static_cast<std::uint32_t>(stream));
    return {c[0], c[1], c[2], c[3]};
  }
};

// Returns a uniform value in (0, 1), never 0 or 1, from 24 random bits. The clamp is needed because the largest value
// rounds to 1.
inline float uniform_open(std::uint32_t bits) {
  const float uniform = (static_cast<float>(bits >> 8) + 0.5f) * 0x1p-24f;
  return uniform < 1 ? uniform : 0x1.fffffep-1f;
}

}  // namespace starpo
