#include "env/webshop/search_index_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "env/webshop/analyzer.h"
#include "env/webshop/bm25.h"
#include "env/webshop/posting_block.h"
#include "env/webshop/search_index_file.h"

namespace starpo {
namespace {

void append_varint(std::string& bytes, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

std::uint32_t read_varint(const char*& bytes) {
  std::uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*bytes++);
    value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

template <class T>
std::string_view bytes_of_array(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

void SearchIndexBuilder::add(std::string_view text, std::string_view group) {
  const auto document = static_cast<std::uint32_t>(lengths_.size());
  std::unordered_map<std::string, std::uint32_t> frequencies;
  std::uint32_t length = 0;
  for (std::string& term : analyze_english(text)) {
    ++frequencies[std::move(term)];
    ++length;
  }
  for (const auto& [term, frequency] : frequencies) {
    Postings& postings = terms_[term];
    append_varint(postings.bytes, document - postings.last_document);
    append_varint(postings.bytes, frequency);
    postings.last_document = document;
    ++postings.documents;
  }
  lengths_.push_back(encode_document_length(length));
  tokens_ += length;
  documents_with_terms_ += length > 0;

  auto known = groups_.find(group);
  if (known == groups_.end()) known = groups_.emplace(group, static_cast<std::uint32_t>(groups_.size())).first;
  group_of_.push_back(known->second);
}

// Returns the numbers of the documents in the order of their positions. Documents of a group and of similar length are
// neighbors, so that few blocks contain all terms of a query, and the upper bounds of scores are tight.
std::vector<std::uint32_t> SearchIndexBuilder::order() const {
  std::vector<std::uint32_t> place_of_group(groups_.size());
  std::uint32_t place = 0;
  for (const auto& [name, group] : groups_) place_of_group[group] = place++;
  std::vector<std::uint32_t> numbers(lengths_.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::sort(numbers, {}, [&](std::uint32_t number) {
    return std::tuple(place_of_group[group_of_[number]], lengths_[number], number);
  });
  return numbers;
}

void SearchIndexBuilder::finish(const std::function<void(std::string_view)>& write) && {
  const std::vector<std::uint32_t> numbers = order();
  std::vector<std::uint32_t> positions(numbers.size());
  std::vector<std::uint8_t> lengths;
  for (const std::uint32_t number : numbers) {
    positions[number] = static_cast<std::uint32_t>(lengths.size());
    lengths.push_back(lengths_[number]);
  }
  std::vector<std::pair<const std::string, Postings>*> sorted;
  for (auto& term : terms_) sorted.push_back(&term);
  std::ranges::sort(sorted, {}, [](const auto* term) -> const std::string& { return term->first; });

  std::string text;
  std::vector<std::uint64_t> term_ends, block_ends, words;
  std::vector<PostingBlock> blocks;
  std::vector<std::uint32_t> documents;
  for (auto* term : sorted) {
    Postings& postings = term->second;
    std::vector<Posting> all(postings.documents);
    const char* bytes = postings.bytes.data();
    std::uint32_t number = 0;
    for (Posting& posting : all) {
      number += read_varint(bytes);
      posting = {positions[number], read_varint(bytes)};
    }
    std::string().swap(postings.bytes);  // frees memory for the words
    std::ranges::sort(all, {}, &Posting::position);
    for (auto begin = all.cbegin(); begin != all.cend();) {
      const std::uint32_t block = begin->position / kBlockDocuments;
      const auto end =
          std::find_if(begin, all.cend(), [&](const Posting& p) { return p.position / kBlockDocuments != block; });
      const std::uint32_t highest = std::max_element(begin, end, [](const Posting& a, const Posting& b) {
                                      return a.frequency < b.frequency;
                                    })->frequency;
      const auto first_word = static_cast<std::uint32_t>(words.size());
      append_tiers({begin, end}, words);
      if (words.size() > std::numeric_limits<std::uint32_t>::max())
        throw Error("catalogue_invalid", "the texts of the catalogue are too long for a search index of 32 GiB",
                    "use fewer products");
      blocks.push_back({block, highest, first_word, static_cast<std::uint32_t>(words.size()) - first_word});
      begin = end;
    }
    text += term->first;
    term_ends.push_back(text.size());
    block_ends.push_back(blocks.size());
    documents.push_back(postings.documents);
  }

  SearchIndexHeader header;
  header.tokens = tokens_;
  header.terms = sorted.size();
  header.term_bytes = text.size();
  header.words = words.size();
  header.blocks = blocks.size();
  header.documents = static_cast<std::uint32_t>(numbers.size());
  header.documents_with_terms = documents_with_terms_;
  write({reinterpret_cast<const char*>(&header), sizeof header});
  write(bytes_of_array(term_ends));
  write(bytes_of_array(block_ends));
  write(bytes_of_array(words));
  write(bytes_of_array(blocks));
  write(bytes_of_array(documents));
  write(bytes_of_array(numbers));
  write(bytes_of_array(lengths));
  write(text);
}

}  // namespace starpo
