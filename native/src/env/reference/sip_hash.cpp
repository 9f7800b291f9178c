#include "env/reference/sip_hash.h"

#include <bit>

namespace starpo {
namespace {

struct SipState {
  // Initial state for key 0.
  std::uint64_t a = 0x736f6d6570736575ull, b = 0x646f72616e646f6dull, c = 0x6c7967656e657261ull,
                d = 0x7465646279746573ull;

  void mix(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      a += b;
      b = std::rotl(b, 13) ^ a;
      a = std::rotl(a, 32);
      c += d;
      d = std::rotl(d, 16) ^ c;
      a += d;
      d = std::rotl(d, 21) ^ a;
      c += b;
      b = std::rotl(b, 17) ^ c;
      c = std::rotl(c, 32);
    }
  }

  void absorb(std::uint64_t word, int rounds) {
    d ^= word;
    mix(rounds);
    a ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash(std::string_view text, int c, int d) {
  SipState state;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 8));
    if (i % 8 != 7) continue;
    state.absorb(word, c);
    word = 0;
  }
  state.absorb(word | static_cast<std::uint64_t>(text.size() & 0xff) << 56, c);
  state.c ^= 0xff;
  state.mix(d);
  return state.a ^ state.b ^ state.c ^ state.d;
}

std::int64_t python_text_hash(std::string_view text) {
  if (text.empty()) return 0;
  const auto hash = static_cast<std::int64_t>(sip_hash(text, 1, 3));
  return hash == -1 ? -2 : hash;  // Python reserves -1 for errors
}

}  // namespace starpo
