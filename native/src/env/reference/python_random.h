#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace starpo {

// MT19937 (Matsumoto and Nishimura 1998) with both of its published ways of seeding: Python's random uses the second,
// numpy's legacy the first.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed);                  // init_genrand
  explicit MersenneTwister(std::span<const std::uint32_t> key);  // init_by_array; at least one word

  std::uint32_t operator()();

 private:
  static constexpr int size = 624;

  void refill();

  std::array<std::uint32_t, size> words_;
  int next_ = size;
};

// Python's random.Random(seed), bit for bit.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  double random();  // [0, 1), 53 bits
  std::uint32_t below(
      std::uint32_t n);  // [0, n), n >= 1: what choice, sample of one, and randint less its lower end draw

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
