#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace starpo {

// MT19937 (Matsumoto and Nishimura 1998) with its two published seeding functions. Python's random uses the second,
// numpy's legacy generator the first.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed);                  // init_genrand
  explicit MersenneTwister(std::span<const std::uint32_t> key);  // init_by_array; at least one word

  std::uint32_t operator()();

 private:
  static constexpr int kStateWords = 624;

  void refill();

  std::array<std::uint32_t, kStateWords> words_;
  int next_ = kStateWords;
};

// Reproduces Python's random.Random(seed) bit for bit.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  double random();  // [0, 1), 53 bits
  // [0, n), n >= 1, as drawn by choice, sample(1) and randint (minus its lower bound).
  std::uint32_t below(std::uint32_t n);

 private:
  MersenneTwister twister_;
};

// Reproduces numpy's legacy generator: numpy.random.seed(seed) and the functions of the module.
class NumpyLegacyRandom {
 public:
  explicit NumpyLegacyRandom(std::uint32_t seed) : twister_(seed) {}

  std::uint32_t integers(std::uint32_t n);  // randint(n): [0, n), n >= 1; does not draw for n = 1

 private:
  MersenneTwister twister_;
};

}  // namespace starpo
