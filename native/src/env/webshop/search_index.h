#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace starpo {

// The inverted index of a search, built in memory. Its bytes are the file that SearchIndex reads.
class SearchIndexBuilder {
 public:
  // Adds the next document: 0, 1, ... A document without terms is never found and does not count in statistics.
  void add(std::string_view text);

  // Passes the bytes of the index to `write`, in pieces.
  void finish(const std::function<void(std::string_view)>& write) &&;

 private:
  struct Postings {
    std::string bytes;  // per document: increase of the document number and term frequency, as varints
    std::uint32_t last_document = 0, documents = 0;
  };

  std::unordered_map<std::string, Postings> terms_;
  std::vector<std::uint8_t> lengths_;  // [documents] encoded
  std::uint64_t tokens_ = 0;
  std::uint32_t documents_with_terms_ = 0;
};

struct SearchHit {
  std::uint32_t document;
  float score;
};

// Ranks documents like Lucene's BM25 with Anserini's parameters: k1 0.9, b 0.4, document lengths in one byte, and ties
// by document number. Reads the index in place, so that it can be a mapped file. The bytes must outlive it.
class SearchIndex {
 public:
  // Errors: index_invalid.
  explicit SearchIndex(std::string_view bytes);

  // Returns at most `limit` documents with a positive score, best first.
  std::vector<SearchHit> search(std::string_view query, std::size_t limit) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(lengths_.size()); }  // documents

 private:
  // The postings of a term, or nothing.
  std::string_view find(std::string_view term, std::uint32_t& documents) const;

  std::span<const std::uint8_t> lengths_;         // [documents]
  std::span<const std::uint64_t> term_ends_;      // [terms] in text_
  std::span<const std::uint64_t> postings_ends_;  // [terms] in postings_
  std::span<const std::uint32_t> documents_;      // [terms] documents with the term
  std::string_view text_, postings_;
  std::uint32_t documents_with_terms_ = 0;
  std::vector<float> inverse_lengths_;  // [encoded length]
};

// Document lengths in one byte, as Lucene's SmallFloat: exact below 40, then four significant bits.
std::uint8_t encode_document_length(std::uint32_t);
std::uint32_t decode_document_length(std::uint8_t);

}  // namespace starpo
