#include <doctest/doctest.h>

#include "env/webshop/search_index.h"
#include "error_code.h"
#include "vectors.h"

using namespace starpo;

namespace {

std::string index_of(const std::vector<std::string>& texts) {
  SearchIndexBuilder builder;
  for (const auto& text : texts) builder.add(text);
  std::string bytes;
  std::move(builder).finish([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::vector<std::uint32_t> documents_of(const std::vector<SearchHit>& hits) {
  std::vector<std::uint32_t> documents;
  for (const auto& hit : hits) documents.push_back(hit.document);
  return documents;
}

using Documents = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("document lengths are stored like Lucene's SmallFloat") {
  for (std::uint32_t length = 0; length < 40; ++length)
    CHECK(decode_document_length(encode_document_length(length)) == length);
  for (const auto& [length, stored] : {std::pair{41u, 40u}, {122u, 120u}, {500u, 472u}, {0x7FFFFFFFu, 2013265944u}})
    CHECK(decode_document_length(encode_document_length(length)) == stored);
}

TEST_CASE("scores and order match Lucene bit for bit") {
  const std::string bytes = index_of(read_vectors("lucene_bm25.json", "documents").get<std::vector<std::string>>());
  const SearchIndex index(bytes);
  for (const auto& vector : read_vectors("lucene_bm25.json", "queries")) {
    CAPTURE(vector[0]);
    const auto hits = index.search(vector[0].get<std::string>(), 50);
    CHECK(hits.size() == vector[2].get<std::size_t>());
    REQUIRE(hits.size() >= vector[1].size());
    for (std::size_t i = 0; i < vector[1].size(); ++i) {
      CHECK(hits[i].document == vector[1][i][0].get<std::uint32_t>());
      CHECK(hits[i].score == vector[1][i][1].get<float>());
    }
  }
}

TEST_CASE("documents without terms are not found and don't count") {
  const std::string bytes = index_of({"red mug", "", "the of", "red cup"}), dense = index_of({"red mug", "red cup"});
  const SearchIndex index(bytes);
  CHECK(index.size() == 4);
  const auto hits = index.search("red mug", 50);
  REQUIRE(documents_of(hits) == Documents{0, 3});
  CHECK(hits[0].score == SearchIndex(dense).search("red mug", 50)[0].score);
}

TEST_CASE("equal scores are ordered by document number, and the limit applies after that") {
  const std::string bytes = index_of({"mug", "cup", "mug", "mug"});
  const SearchIndex index(bytes);
  CHECK(documents_of(index.search("mug", 50)) == Documents{0, 2, 3});
  CHECK(documents_of(index.search("mug", 2)) == Documents{0, 2});
}

TEST_CASE("a query without known terms finds nothing") {
  const std::string bytes = index_of({"mug"});
  const SearchIndex index(bytes);
  for (const auto& query : {std::string(), std::string("the"), std::string("\U0001F600 \x01"), std::string(10000, 'x')})
    CHECK(index.search(query, 50).empty());
  const std::string empty = index_of({});
  CHECK(SearchIndex(empty).search("mug", 50).empty());
}

TEST_CASE("a damaged index is rejected, or its search fails with index_invalid") {
  const std::string bytes = index_of({"red mug", "blue mug", "red cup"});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string truncated = bytes.substr(0, size);
    CHECK(error_code_of([&] { SearchIndex index(truncated); }) == "index_invalid");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xFF);
    const std::string code = error_code_of([&] { SearchIndex(damaged).search("red mug cup", 50); });
    CHECK((code == "none" || code == "index_invalid"));
  }
}
