#include "env/reference/numpy_random.h"

#include <array>
#include <bit>
#include <limits>

namespace starpo {
namespace {

constexpr int kPoolSize = 4;
using Pool = std::array<std::uint32_t, kPoolSize>;

// SeedSequence's running hash: the constant changes with each value.
struct RunningHash {
  std::uint32_t constant;
  std::uint32_t multiplier;

  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant;
    constant *= multiplier;
    value *= constant;
    return value ^ (value >> 16);
  }
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = 0xca01f9ddu * x - 0x4973f715u * y;
  return result ^ (result >> 16);
}

Pool mix_entropy(std::span<const std::uint32_t> entropy) {
  RunningHash hash{0x43b0d7e5u, 0x931e8875u};
  Pool pool;
  for (std::size_t i = 0; i < kPoolSize; ++i) pool[i] = hash(i < entropy.size() ? entropy[i] : 0);
  for (int source = 0; source < kPoolSize; ++source)
    for (int destination = 0; destination < kPoolSize; ++destination)
      if (source != destination) pool[destination] = mix(pool[destination], hash(pool[source]));
  for (std::size_t source = kPoolSize; source < entropy.size(); ++source)
    for (auto& word : pool) word = mix(word, hash(entropy[source]));
  return pool;
}

std::array<std::uint64_t, 4> generate_state(const Pool& pool) {
  RunningHash hash{0x8b51f9ddu, 0x58f38dedu};
  std::array<std::uint64_t, 4> words{};
  for (int i = 0; i < 8; ++i) words[i / 2] |= static_cast<std::uint64_t>(hash(pool[i % kPoolSize])) << (32 * (i % 2));
  return words;
}

unsigned __int128 wide(std::uint64_t high, std::uint64_t low) {
  return (static_cast<unsigned __int128>(high) << 64) | low;
}

const unsigned __int128 kMultiplier = wide(0x2360ed051fc65da4ull, 0x4385df649fccf645ull);

constexpr std::uint32_t low_half(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_half(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

NumpyRandom::NumpyRandom(std::span<const std::uint32_t> entropy) {
  const auto words = generate_state(mix_entropy(entropy));
  increment_ = (wide(words[2], words[3]) << 1) | 1;
  state_ = increment_;
  state_ += wide(words[0], words[1]);
  state_ = state_ * kMultiplier + increment_;
}

// numpy uses one word for a seed below 2^32; missing words of the pool count as 0.
NumpyRandom::NumpyRandom(std::uint64_t seed) : NumpyRandom(std::array{low_half(seed), high_half(seed)}) {}

std::uint64_t NumpyRandom::next64() {
  state_ = state_ * kMultiplier + increment_;
  const auto high = static_cast<std::uint64_t>(state_ >> 64), low = static_cast<std::uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyRandom::next32() {
  if (has_spare_half_) {
    has_spare_half_ = false;
    return spare_half_;
  }
  const auto value = next64();
  spare_half_ = high_half(value);
  has_spare_half_ = true;
  return low_half(value);
}

double NumpyRandom::random() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

std::uint32_t NumpyRandom::integers(std::uint32_t n) {
  if (n <= 1) return 0;
  auto product = static_cast<std::uint64_t>(next32()) * n;
  if (low_half(product) < n) {
    const std::uint32_t threshold = (std::numeric_limits<std::uint32_t>::max() - (n - 1)) % n;
    while (low_half(product) < threshold) product = static_cast<std::uint64_t>(next32()) * n;
  }
  return high_half(product);
}

}  // namespace starpo
