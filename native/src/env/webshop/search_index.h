#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "env/webshop/query_plan.h"

namespace starpo {

// Ranks documents like Lucene's BM25 with Anserini's parameters, and ties by document number. Reads the index in place,
// so that it can be a mapped file. The bytes must outlive it.
class SearchIndex {
 public:
  // Errors: index_invalid.
  explicit SearchIndex(std::string_view bytes);

  // Returns at most `limit` documents with a positive score, best first. Errors: index_invalid.
  std::vector<SearchHit> search(std::string_view query, std::size_t limit) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(documents_.numbers.size()); }  // documents

 private:
  // Returns the terms of a query that the index contains, in alphabetical order.
  std::vector<QueryTerm> find_terms(std::string_view query) const;

  // Returns whether a term's blocks exist, in ascending order, and their postings follow each other. A search then
  // reads no posting twice.
  bool are_valid(std::span<const PostingBlock> postings) const;

  // Adds the documents whose scores can reach the threshold of `hits`, and returns `hits`.
  TopHits search(const QueryPlan& plan, TopHits hits) const;

  std::string_view text_;
  std::span<const std::uint64_t> term_ends_;    // [terms] in text_
  std::span<const std::uint64_t> block_ends_;   // [terms] in blocks_
  std::span<const std::uint32_t> frequencies_;  // [terms] documents with the term
  std::span<const PostingBlock> blocks_;
  std::span<const std::uint64_t> postings_;
  IndexedDocuments documents_;
  std::uint32_t documents_with_terms_ = 0;
  Bm25 bm25_;
  std::vector<std::uint8_t> shortest_;  // [blocks of documents] encoded length
};

}  // namespace starpo
