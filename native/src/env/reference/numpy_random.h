#pragma once

#include <cstdint>
#include <span>

namespace starpo {

// Reproduces numpy.random.default_rng bit for bit: SeedSequence and PCG64 (XSL-RR 128/64; O'Neill 2014). A level seed
// thus gives the same level as in Gymnasium and RAGEN.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint64_t seed);  // default_rng(seed)
  explicit NumpyRandom(std::span<const std::uint32_t> entropy);

  double random();  // [0, 1), 53 bits

  // [0, n), n >= 1. Uses Lemire's method on 32-bit draws. A 32-bit draw uses the low half of a 64-bit draw and keeps
  // the high half for the next.
  std::uint32_t integers(std::uint32_t n);

 private:
  std::uint64_t next64();
  std::uint32_t next32();

  unsigned __int128 state_ = 0;
  unsigned __int128 increment_ = 0;
  std::uint32_t spare_half_ = 0;
  bool has_spare_half_ = false;
};

}  // namespace starpo
