#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace starpo {

// MT19937 (Matsumoto and Nishimura 1998) with both of its published ways of seeding: Python's random uses the second, numpy's legacy the first.
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

}  // namespace starpo
