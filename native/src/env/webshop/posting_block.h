#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace starpo {

// An index divides its documents into blocks of 4096. The postings of a term in a block are tiers: tier f is the set of
// documents that contain the term at least f times. The frequency of the term in a document is therefore the number of
// tiers that contain the document, and a search can test 64 documents for a frequency at once.
constexpr std::uint32_t kBlockWords = 64;
constexpr std::uint32_t kBlockDocuments = 64 * kBlockWords;

struct Posting {
  std::uint32_t position;  // of the document in the index
  std::uint32_t frequency;
};

// Locates the tiers of a term in a block.
struct PostingBlock {
  std::uint32_t block;
  std::uint32_t highest_frequency;  // number of tiers
  std::uint32_t begin, words;       // in the postings
};

// A bit per document of a block.
using BlockBits = std::array<std::uint64_t, kBlockWords>;

// Appends the tiers of the postings of one block, which are sorted by position. A tier starts with its number of
// documents. In a small tier, the positions of the documents in the block follow, as 16-bit numbers. In a large tier, a
// bit per document of the block follows, from the next word on.
void append_tiers(std::vector<Posting> postings, std::vector<std::uint64_t>& words);

struct Tier {
  const std::uint64_t* bits = nullptr;  // null if the index is damaged
  std::uint32_t documents = 0;
};

// Reads the tiers of a term in a block in order.
class TierReader {
 public:
  // words: the block's part of the postings
  explicit TierReader(std::span<const std::uint64_t> words) : rest_(words) {}

  // Returns the next tier. Its bits are in place, in `scratch`, or those of the previous tier if both have the same
  // documents. A document that repeats a term a million times therefore needs no million bitmaps.
  Tier next(BlockBits& scratch);

 private:
  std::span<const std::uint64_t> rest_;
  Tier previous_{nullptr, kBlockDocuments};
};

}  // namespace starpo
