#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace starpo {

// The inverted index of a search, built in memory. Its bytes are the file that SearchIndex reads.
class SearchIndexBuilder {
 public:
  // Adds the next document: 0, 1, ... A document without terms is never found and does not count in statistics.
  // Documents of a group have many terms in common. Groups have no effect on results, but make searches faster.
  void add(std::string_view text, std::string_view group = "");

  // Passes the bytes of the index to `write`, in pieces.
  void finish(const std::function<void(std::string_view)>& write) &&;

 private:
  struct Postings {
    std::string bytes;  // per document: increase of the document number and term frequency, as varints
    std::uint32_t last_document = 0, documents = 0;
  };

  std::vector<std::uint32_t> order() const;

  std::unordered_map<std::string, Postings> terms_;
  std::map<std::string, std::uint32_t, std::less<>> groups_;
  std::vector<std::uint32_t> group_of_;  // [documents]
  std::vector<std::uint8_t> lengths_;    // [documents] encoded
  std::uint64_t tokens_ = 0;
  std::uint32_t documents_with_terms_ = 0;
};

}  // namespace starpo
