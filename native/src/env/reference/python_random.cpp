#include "env/reference/python_random.h"

#include <bit>

namespace starpo {
namespace {

// Python's key has the seed's 32-bit words, the lowest first, without leading zeros.
MersenneTwister seeded(std::uint64_t seed) {
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  return MersenneTwister(std::span(words).first(words[1] == 0 ? 1 : 2));
}

}  // namespace

PythonRandom::PythonRandom(std::uint64_t seed) : twister_(seeded(seed)) {}

double PythonRandom::random() {
  const std::uint32_t high = twister_() >> 5, low = twister_() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::uint32_t PythonRandom::below(std::uint32_t n) {
  const int bits = std::bit_width(n);
  std::uint32_t draw;
  do draw = twister_() >> (32 - bits);
  while (draw >= n);
  return draw;
}

std::uint32_t NumpyLegacyRandom::integers(std::uint32_t n) {
  if (n <= 1) return 0;
  const std::uint32_t mask = 0xffffffffu >> std::countl_zero(n - 1);
  std::uint32_t draw;
  do draw = twister_() & mask;
  while (draw >= n);
  return draw;
}

}  // namespace starpo
