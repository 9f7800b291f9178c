#include "env/webshop/query_plan.h"

#include <algorithm>

namespace starpo {

QueryPlan::QueryPlan(std::vector<QueryTerm> terms, const Bm25& bm25, std::span<const std::uint8_t> shortest)
    : terms_(std::move(terms)), postings_(shortest.size() * terms_.size()), bounds_(shortest.size()) {
  for (std::size_t term = 0; term < terms_.size(); ++term)
    for (const PostingBlock& postings : terms_[term].postings) {
      const std::uint32_t block = postings.block;
      postings_[block * terms_.size() + term] = &postings;
      bounds_[block] += bm25.contribution(terms_[term].weight, postings.highest_frequency, shortest[block]);
    }
  for (std::uint32_t block = 0; block < bounds_.size(); ++block)
    if (bounds_[block] > 0) blocks_.push_back(block);
  std::ranges::sort(blocks_, std::ranges::greater(), [&](std::uint32_t block) { return bounds_[block]; });
}

std::vector<BlockTerm> QueryPlan::terms_of(std::uint32_t block) const {
  std::vector<BlockTerm> found;
  for (std::size_t term = 0; term < terms_.size(); ++term)
    if (const PostingBlock* postings = postings_[block * terms_.size() + term])
      found.push_back({terms_[term].weight, *postings});
  return found;
}

}  // namespace starpo
