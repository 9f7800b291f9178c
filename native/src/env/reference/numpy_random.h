#pragma once

#include <cstdint>
#include <span>

namespace starpo {

// numpy.random.default_rng: SeedSequence feeding PCG64 (XSL-RR 128/64; O'Neill 2014), bit for bit, so that a level seed
// means the same level as in Gymnasium and RAGEN.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint64_t seed);  // default_rng(seed)
  explicit NumpyRandom(std::span<const std::uint32_t> entropy);

  double random();  // [0, 1), 53 bits

  // [0, n), n >= 1. Lemire's method on 32-bit draws; a 32-bit draw takes the low half of a 64-bit one and keeps the
  // high half for the next.
  std::uint32_t integers(std::uint32_t n);

 private:
  std::uint64_t next64();
  std::uint32_t next32();

  unsigned __int128 state_ = 0;
  unsigned __int128 increment_ = 0;
  std::uint32_t kept_half_ = 0;
  bool has_kept_half_ = false;
};

}  // namespace starpo
