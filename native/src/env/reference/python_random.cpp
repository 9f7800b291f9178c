#include "env/reference/python_random.h"

#include <algorithm>
#include <bit>

namespace starpo {
namespace {

// Python seeds with the 32-bit words of the seed, lowest first, without leading zero words.
MersenneTwister seeded(std::uint64_t seed) {
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  return MersenneTwister(std::span(words).first(words[1] == 0 ? 1 : 2));
}

}  // namespace

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  words_[0] = seed;
  for (std::uint32_t i = 1; i < kStateWords; ++i) words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
}

MersenneTwister::MersenneTwister(std::span<const std::uint32_t> key) : MersenneTwister(19650218u) {
  int place = 1;
  // After each round, the first word is set to the last word.
  const auto advance = [&] {
    if (++place < kStateWords) return;
    words_[0] = words_[kStateWords - 1];
    place = 1;
  };
  const auto mixed = [&](std::uint32_t multiplier) {
    return words_[place] ^ ((words_[place - 1] ^ (words_[place - 1] >> 30)) * multiplier);
  };
  const std::size_t rounds = std::max<std::size_t>(kStateWords, key.size());
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto j = static_cast<std::uint32_t>(i % key.size());
    words_[place] = mixed(1664525u) + key[j] + j;
    advance();
  }
  for (int i = 1; i < kStateWords; ++i) {
    words_[place] = mixed(1566083941u) - static_cast<std::uint32_t>(place);
    advance();
  }
  words_[0] = 0x80000000u;
}

void MersenneTwister::refill() {
  for (int i = 0; i < kStateWords; ++i) {
    const std::uint32_t joined = (words_[i] & 0x80000000u) | (words_[(i + 1) % kStateWords] & 0x7fffffffu);
    words_[i] = words_[(i + 397) % kStateWords] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

std::uint32_t MersenneTwister::operator()() {
  if (next_ == kStateWords) refill();
  std::uint32_t word = words_[next_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

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
