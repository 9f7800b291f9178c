#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "env/webshop/bm25.h"
#include "env/webshop/posting_block.h"
#include "env/webshop/top_hits.h"

namespace starpo {

// The documents of an index, in the order of their positions.
struct IndexedDocuments {
  std::span<const std::uint32_t> numbers;
  std::span<const std::uint8_t> lengths;  // encoded
};

// A term of a query in a block.
struct BlockTerm {
  float weight;
  PostingBlock postings;
};

// Finds the best documents of a block without scoring most of them.
//
// The upper bound of a block is the score of a document that is in all tiers of all terms and as short as the block's
// shortest document. Each tier that a document is not in lowers its own bound. A search adds up these losses for 64
// documents at a time, in counters whose bits are in different words. A counter that overflows excludes its document,
// because its bound is below the threshold of the hits. The search scores the remaining documents.
class BlockSearch {
 public:
  BlockSearch(std::span<const std::uint64_t> postings, const Bm25& bm25, const IndexedDocuments& documents)
      : postings_(postings), bm25_(bm25), documents_(documents) {}

  // Prefetches the postings of a block. As in `search`, the postings of `terms` must be within the index.
  void prefetch(std::span<const BlockTerm> terms) const;

  // `terms` are in alphabetical order, and `shortest` is the shortest length of the block. Returns false if the index
  // is damaged.
  bool search(std::uint32_t block, std::span<const BlockTerm> terms, std::uint8_t shortest, TopHits& hits);

 private:
  static constexpr int kCounterBits = 6;
  static constexpr std::uint32_t kOverflow = 1u << kCounterBits;
  using Counters = std::array<std::uint64_t, kCounterBits>;

  struct Test {
    const std::uint64_t* bits;  // of a tier, or of several with the same documents
    double loss;                // by which the bound of a document outside the tiers is lower
    double total_loss;          // sum of the losses of all documents outside the tiers
    std::uint32_t cost;         // loss in units of a counter
  };

  bool read_tiers(std::span<const BlockTerm> terms, std::uint8_t shortest);
  void set_costs(float threshold);
  std::uint64_t candidates(std::uint32_t word) const;
  float score(std::span<const BlockTerm> terms, std::uint32_t begin, std::uint32_t position) const;

  // Adds a cost to the counters of the documents in `lacking`. Returns the documents whose counters overflow.
  static std::uint64_t add_cost(Counters& counters, std::uint64_t lacking, std::uint32_t cost);

  std::span<const std::uint64_t> postings_;
  const Bm25& bm25_;
  IndexedDocuments documents_;

  // State of the search in the current block:
  std::vector<const std::uint64_t*> bits_;  // of all tiers, by term, then by frequency
  std::vector<Test> tests_;                 // by total_loss, largest first
  std::deque<BlockBits> scratch_;
  double bound_ = 0;
  bool any_term_ = false;  // a document with any of the terms is a candidate
};

}  // namespace starpo
