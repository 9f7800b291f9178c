#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/webshop/block_search.h"

namespace starpo {

// A term of a query, with its postings in all blocks.
struct QueryTerm {
  float weight;
  std::span<const PostingBlock> postings;
};

// The blocks that contain terms of a query, with upper bounds of the scores of their documents.
class QueryPlan {
 public:
  // shortest: [blocks] shortest length of a document, encoded
  QueryPlan(std::vector<QueryTerm> terms, const Bm25& bm25, std::span<const std::uint8_t> shortest);

  // Blocks with terms, those with the highest bounds first.
  std::span<const std::uint32_t> blocks() const { return blocks_; }
  double bound(std::uint32_t block) const { return bounds_[block]; }
  std::vector<BlockTerm> terms_of(std::uint32_t block) const;

 private:
  std::vector<QueryTerm> terms_;
  std::vector<const PostingBlock*> postings_;  // [blocks][terms], null for a term that the block does not contain
  std::vector<double> bounds_;                 // [blocks] of scores
  std::vector<std::uint32_t> blocks_;
};

}  // namespace starpo
