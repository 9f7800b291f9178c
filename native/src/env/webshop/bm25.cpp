#include "env/webshop/bm25.h"

#include <bit>
#include <cmath>

namespace starpo {
namespace {

constexpr float kTermSaturation = 0.9f;          // k1
constexpr float kLengthNormalization = 0.4f;     // b
constexpr std::uint32_t kExactLengthCount = 24;  // lengths below are stored as they are, others relative to it

}  // namespace

std::uint8_t encode_document_length(std::uint32_t length) {
  if (length < kExactLengthCount) return static_cast<std::uint8_t>(length);
  const std::uint32_t above = length - kExactLengthCount;
  const int bits = std::bit_width(above);
  if (bits < 4) return static_cast<std::uint8_t>(kExactLengthCount + above);
  const int shift = bits - 4;
  return static_cast<std::uint8_t>(kExactLengthCount +
                                   ((above >> shift & 7) | static_cast<std::uint32_t>(shift + 1) << 3));
}

std::uint32_t decode_document_length(std::uint8_t encoded) {
  if (encoded < kExactLengthCount) return encoded;
  const std::uint32_t above = encoded - kExactLengthCount, shift = above >> 3;
  return kExactLengthCount + (shift == 0 ? above : ((above & 7) | 8) << (shift - 1));
}

Bm25::Bm25(float average_length) {
  for (std::size_t length = 0; length < inverse_lengths_.size(); ++length) {
    const auto decoded = static_cast<float>(decode_document_length(static_cast<std::uint8_t>(length)));
    inverse_lengths_[length] =
        1 / (kTermSaturation * ((1 - kLengthNormalization) + kLengthNormalization * decoded / average_length));
  }
}

float Bm25::weight(int count, std::uint32_t with_term, std::uint32_t documents) {
  const auto rarity =
      static_cast<float>(std::log(1 + (documents - static_cast<double>(with_term) + 0.5) / (with_term + 0.5)));
  return static_cast<float>(count) * rarity;
}

}  // namespace starpo
