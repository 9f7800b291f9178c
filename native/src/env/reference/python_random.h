#pragma once

#include <cstdint>

#include "env/reference/mersenne_twister.h"

namespace starpo {

// Python's random.Random(seed), bit for bit.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  double random();                        // [0, 1), 53 bits
  std::uint32_t below(std::uint32_t n);   // [0, n), n >= 1: what choice, sample of one, and randint less its lower end draw

 private:
  MersenneTwister twister_;
};

// numpy.random.seed(seed) and the module's functions, as they were before numpy.random.default_rng.
class NumpyLegacyRandom {
 public:
  explicit NumpyLegacyRandom(std::uint32_t seed) : twister_(seed) {}

  std::uint32_t integers(std::uint32_t n);  // randint(n): [0, n), n >= 1; no draw for n = 1

 private:
  MersenneTwister twister_;
};

}  // namespace starpo
