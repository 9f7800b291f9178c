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
// A document can have at most the score of one that is as short as the shortest of the block and in all tiers of all
// terms. Each tier that it is not in costs it a part of that bound. The costs are added up for 64 documents at a time,
// in counters whose bits are in different words. A counter that overflows rules its document out, because the rest of
// the bound is below the threshold of the hits. The documents that are left are scored.
class BlockSearch {
 public:
  BlockSearch(std::span<const std::uint64_t> postings, const Bm25& bm25, const IndexedDocuments& documents)
      : postings_(postings), bm25_(bm25), documents_(documents) {}

  // Starts to load the postings of a block that is searched later.
  void prefetch(std::span<const BlockTerm> terms) const;

  // `terms` are in alphabetical order, and `shortest` is the shortest length of the block. Returns false if the index
  // is damaged.
  bool search(std::uint32_t block, std::span<const BlockTerm> terms, std::uint8_t shortest, TopHits& hits);

 private:
  static constexpr int kCounterBits = 6;
  static constexpr std::uint32_t kOverflow = 1u << kCounterBits;
  using Counters = std::array<std::uint64_t, kCounterBits>;

  struct Test {
    const std::uint64_t* bits;  // of a tier
    double loss;                // of the bound, for documents that are not in the tier
    double total_loss;          // of all these documents
    std::uint32_t cost;         // the loss, in units of a counter
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

  // Of the block that is searched:
  std::vector<const std::uint64_t*> bits_;  // of all tiers, by term, then by frequency
  std::vector<Test> tests_;                 // those first that rule out most documents
  std::deque<BlockBits> scratch_;
  double bound_ = 0;
  bool any_term_ = false;  // a document with any of the terms is a candidate
};

}  // namespace starpo
