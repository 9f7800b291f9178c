#pragma once

#include <array>
#include <cstdint>

namespace starpo {

// Document lengths in one byte, as Lucene's SmallFloat: exact below 40, then four significant bits.
std::uint8_t encode_document_length(std::uint32_t);
std::uint32_t decode_document_length(std::uint8_t);

// Sums of the same n numbers in different orders differ by less than n * 2^-53 of their value, and a query has far
// fewer than 2^20 terms. So a sum of upper bounds times this factor is not below a sum of contributions.
constexpr double kRoundingMargin = 1 + 0x1p-32;

// Lucene's BM25 with Anserini's parameters: k1 0.9 and b 0.4, in single precision.
class Bm25 {
 public:
  explicit Bm25(float average_length);

  // Returns the weight of a term that occurs `count` times in the query and in `with_term` of all `documents`.
  static float weight(int count, std::uint32_t with_term, std::uint32_t documents);

  // Returns the contribution of a term to the score of a document. It never falls with the frequency and never rises
  // with the length, also after rounding, because each of its operations is monotone.
  float contribution(float weight, std::uint32_t frequency, std::uint8_t length) const {
    return weight - weight / (1 + static_cast<float>(frequency) * inverse_lengths_[length]);
  }

 private:
  std::array<float, 256> inverse_lengths_;  // [encoded length]
};

}  // namespace starpo
