#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <random>

#include "env/webshop/analyzer.h"
#include "env/webshop/search_index.h"
#include "env/webshop/search_index_builder.h"
#include "env/webshop/search_index_file.h"
#include "error_code.h"
#include "vectors.h"

using namespace starpo;

namespace {

// Text i is in group i % groups.
std::string index_of(const std::vector<std::string>& texts, std::size_t groups = 1) {
  SearchIndexBuilder builder;
  for (std::size_t i = 0; i < texts.size(); ++i) builder.add(texts[i], std::to_string(i % groups));
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

// Scores every document and sorts all of them.
class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(const std::vector<std::string>& texts) {
    double tokens = 0, documents_with_terms = 0;
    for (const auto& text : texts) {
      auto& document = documents_.emplace_back();
      for (const auto& term : analyze_english(text)) {
        if (++document.frequencies[term] == 1) ++documents_with_[term];
        ++document.length;
      }
      tokens += document.length;
      documents_with_terms += document.length > 0;
    }
    average_ = static_cast<float>(tokens / documents_with_terms);
    documents_with_terms_ = documents_with_terms;
  }

  std::vector<SearchHit> search(const std::string& query, std::size_t limit) const {
    std::map<std::string, int> counts;
    for (const auto& term : analyze_english(query)) ++counts[term];
    std::vector<SearchHit> hits;
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      double score = 0;
      for (const auto& [term, count] : counts) {
        const auto found = documents_[i].frequencies.find(term);
        if (found == documents_[i].frequencies.end()) continue;
        const double with = documents_with_.at(term);
        const float weight = static_cast<float>(count) *
                             static_cast<float>(std::log(1 + (documents_with_terms_ - with + 0.5) / (with + 0.5)));
        const auto length = static_cast<float>(decode_document_length(encode_document_length(documents_[i].length)));
        const float inverse = 1 / (0.9f * ((1 - 0.4f) + 0.4f * length / average_));
        score += weight - weight / (1 + static_cast<float>(found->second) * inverse);
      }
      if (score > 0) hits.push_back({static_cast<std::uint32_t>(i), static_cast<float>(score)});
    }
    std::ranges::stable_sort(hits, std::ranges::greater(), &SearchHit::score);
    hits.resize(std::min(limit, hits.size()));
    return hits;
  }

 private:
  struct Document {
    std::map<std::string, std::uint32_t> frequencies;
    std::uint32_t length = 0;
  };

  std::vector<Document> documents_;
  std::map<std::string, std::uint32_t> documents_with_;
  float average_ = 1;
  double documents_with_terms_ = 0;
};

// Returns texts or queries of up to `longest` words, from w0 to w(words - 1). Words with low numbers are more frequent.
std::vector<std::string> random_texts(std::mt19937& random, std::size_t count, std::uint32_t longest,
                                      std::uint32_t words) {
  std::vector<std::string> texts(count);
  for (auto& text : texts)
    for (std::uint32_t length = random() % (longest + 1); length > 0; --length)
      text += " w" + std::to_string(random() % (random() % words + 1));
  return texts;
}

void check_searches(const std::vector<std::string>& texts, std::size_t groups, const std::vector<std::string>& queries,
                    std::size_t limit) {
  const std::string bytes = index_of(texts, groups);
  const SearchIndex index(bytes);
  const ExhaustiveSearch exhaustive(texts);
  for (const auto& query : queries) {
    CAPTURE(query);
    const auto hits = index.search(query, limit), expected = exhaustive.search(query, limit);
    REQUIRE(documents_of(hits) == documents_of(expected));
    for (std::size_t i = 0; i < hits.size(); ++i) REQUIRE(hits[i].score == expected[i].score);
  }
}

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

TEST_CASE("searches of random catalogues equal exhaustive ones bit for bit") {
  std::mt19937 random(7);
  for (std::size_t documents = 1; documents < 400; documents += 1 + documents / 4) {
    const auto texts = random_texts(random, documents, 1 + random() % 12, 2 + random() % 20);
    for (const std::size_t limit : {1, 10, 50})
      check_searches(texts, 1 + random() % 5, random_texts(random, 6, 8, 25), limit);
  }
}

TEST_CASE("searches of several blocks equal exhaustive ones bit for bit") {
  std::mt19937 random(8);
  auto texts = random_texts(random, 4096 + 70, 12, 60);
  // Rare words at the borders of blocks, frequencies above 255, and more equal scores than hits.
  for (const std::size_t at : {0, 63, 64, 4095, 4096, 4165}) texts[at] = "rare w1 w1 w2";
  for (int i = 0; i < 300; ++i) texts[2000] += " often";
  for (std::size_t at = 1000; at < 4100; at += 20) texts[at] = "equal mug";
  auto queries = random_texts(random, 25, 10, 70);
  for (const char* query : {"rare", "rare w1 w2 w2", "often w3", "equal mug", "mug rare often w0 w1", "equal equal w5"})
    queries.emplace_back(query);
  check_searches(texts, 7, queries, 50);
}

TEST_CASE("a query without known terms finds nothing") {
  const std::string bytes = index_of({"mug"});
  const SearchIndex index(bytes);
  for (const auto& query : {std::string(), std::string("the"), std::string("\U0001F600 \x01"), std::string(10000, 'x')})
    CHECK(index.search(query, 50).empty());
  const std::string empty = index_of({});
  CHECK(SearchIndex(empty).search("mug", 50).empty());
}

TEST_CASE("a text that repeats a word is found like others") {
  std::vector<std::string> texts(5000, "mug cup");
  texts[10] = texts[4999] = "mug";
  for (int i = 0; i < 20'000; ++i) texts[4999] += " cup";
  for (int i = 0; i < 300; ++i) texts[10] += " cup";
  check_searches(texts, 1, {"cup", "mug cup cup"}, 50);
}

TEST_CASE("postings that are not in order fail with index_invalid") {
  std::vector<std::string> texts(2 * 4096);  // a block of even documents, then one of odd documents
  texts[0] = "mug";
  texts[1] = "mug";
  texts[2] = "mug mug";
  const std::string bytes = index_of(texts, 2);
  const std::size_t postings = sizeof(SearchIndexHeader) + 2 * sizeof(std::uint64_t);  // 2 tiers, then 1
  const std::size_t blocks = postings + 3 * sizeof(std::uint64_t), second = blocks + sizeof(PostingBlock);
  CHECK(SearchIndex(bytes).search("mug", 50).size() == 3);
  const auto check_invalid = [&](std::size_t at, auto value) {
    CAPTURE(at);
    std::string damaged = bytes;
    REQUIRE(std::memcmp(&damaged[at], &value, sizeof value) != 0);
    std::memcpy(&damaged[at], &value, sizeof value);
    CHECK(error_code_of([&] { SearchIndex(damaged).search("mug", 50); }) == "index_invalid");
  };
  for (const std::uint32_t block : {0, 2}) check_invalid(second + offsetof(PostingBlock, block), block);
  for (const std::uint32_t begin : {0, 1, 3}) check_invalid(second + offsetof(PostingBlock, begin), begin);
  for (const std::uint32_t words : {0, 1, 3}) check_invalid(blocks + offsetof(PostingBlock, words), words);
  check_invalid(second + offsetof(PostingBlock, words), 2u);
  check_invalid(blocks + offsetof(PostingBlock, highest_frequency), 3u);
  for (const std::uint16_t documents : {0, 3}) check_invalid(postings + sizeof(std::uint64_t), documents);
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
