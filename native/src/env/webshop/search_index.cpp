#include "env/webshop/search_index.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "env/webshop/analyzer.h"
#include "env/webshop/search_index_file.h"

namespace starpo {
namespace {

// A search first accepts only scores of at least this share of the highest bound. If it finds too few hits, it starts
// again with the next share. Most queries need only the first share.
constexpr double kAcceptedShares[] = {0.75, 0.5, 0.25, 0};

Error index_error(const std::string& problem) {
  return Error("index_invalid", "the search index " + problem,
               "delete the starpo-* files in the catalogue's folder to rebuild the index");
}

// Cuts arrays from the front of the index.
class SectionReader {
 public:
  explicit SectionReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  std::span<const T> array(std::uint64_t count) {
    const std::string_view bytes = text(count > rest_.size() / sizeof(T) ? rest_.size() + 1 : count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(count)};
  }

  std::string_view text(std::uint64_t size) {
    if (size > rest_.size()) throw index_error("is truncated");
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void require_ends(std::span<const std::uint64_t> ends, std::size_t size) {
  if (!std::ranges::is_sorted(ends) || (ends.empty() ? size != 0 : ends.back() != size))
    throw index_error("is damaged");
}

// Returns the i-th part of a text or span.
template <class Whole>
Whole part_of(Whole whole, std::span<const std::uint64_t> ends, std::size_t i) {
  const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return {whole.data() + begin, static_cast<std::size_t>(ends[i] - begin)};
}

// Returns the average length of the documents with terms.
float average_length(const SearchIndexHeader& header) {
  if (header.documents_with_terms == 0) return 1;
  if (header.documents_with_terms > header.documents || header.tokens < header.documents_with_terms)
    throw index_error("is damaged");
  return static_cast<float>(static_cast<double>(header.tokens) / static_cast<double>(header.documents_with_terms));
}

}  // namespace

SearchIndex::SearchIndex(std::string_view bytes) : bm25_(1) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0)
    throw std::logic_error("the bytes of a search index must be aligned");
  SectionReader reader(bytes);
  SearchIndexHeader header;
  std::memcpy(&header, reader.text(sizeof header).data(), sizeof header);
  if (header.magic != SearchIndexHeader::kMagic) throw index_error("has an unknown format");
  term_ends_ = reader.array<std::uint64_t>(header.terms);
  block_ends_ = reader.array<std::uint64_t>(header.terms);
  postings_ = reader.array<std::uint64_t>(header.words);
  blocks_ = reader.array<PostingBlock>(header.blocks);
  frequencies_ = reader.array<std::uint32_t>(header.terms);
  documents_.numbers = reader.array<std::uint32_t>(header.documents);
  documents_.lengths = reader.array<std::uint8_t>(header.documents);
  text_ = reader.text(header.term_bytes);
  if (!reader.at_end()) throw index_error("is damaged");
  require_ends(term_ends_, text_.size());
  require_ends(block_ends_, blocks_.size());
  documents_with_terms_ = header.documents_with_terms;
  bm25_ = Bm25(average_length(header));
  for (std::size_t begin = 0; begin < size(); begin += kBlockDocuments)
    shortest_.push_back(std::ranges::min(
        documents_.lengths.subspan(begin).first(std::min<std::size_t>(kBlockDocuments, size() - begin))));
}

std::vector<QueryTerm> SearchIndex::find_terms(std::string_view query) const {
  std::map<std::string, int> counts;
  for (std::string& term : analyze_english(query)) ++counts[std::move(term)];
  std::vector<QueryTerm> terms;
  for (const auto& [term, count] : counts) {
    std::size_t low = 0, high = term_ends_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (part_of(text_, term_ends_, middle) < term)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == term_ends_.size() || part_of(text_, term_ends_, low) != term) continue;
    const std::span<const PostingBlock> postings = part_of(blocks_, block_ends_, low);
    if (frequencies_[low] > documents_with_terms_ || !are_valid(postings)) throw index_error("is damaged");
    terms.push_back({Bm25::weight(count, frequencies_[low], documents_with_terms_), postings});
  }
  return terms;
}

bool SearchIndex::are_valid(std::span<const PostingBlock> postings) const {
  std::uint64_t next_block = 0, begin = postings.empty() ? 0 : postings.front().begin;
  for (const PostingBlock& block : postings) {
    if (block.block < next_block || block.begin != begin) return false;
    next_block = std::uint64_t{block.block} + 1;
    begin += block.words;
  }
  return next_block <= shortest_.size() && begin <= postings_.size();
}

TopHits SearchIndex::search(const QueryPlan& plan, TopHits hits) const {
  BlockSearch block_search(postings_, bm25_, documents_);
  std::vector<BlockTerm> next = plan.terms_of(plan.blocks().front());
  for (std::size_t i = 0; i < plan.blocks().size(); ++i) {
    const std::uint32_t block = plan.blocks()[i];
    if (static_cast<float>(plan.bound(block) * kRoundingMargin) < hits.threshold()) break;
    const std::vector<BlockTerm> terms = std::move(next);
    if (i + 1 < plan.blocks().size()) block_search.prefetch(next = plan.terms_of(plan.blocks()[i + 1]));
    if (!block_search.search(block, terms, shortest_[block], hits)) throw index_error("is damaged");
  }
  return hits;
}

std::vector<SearchHit> SearchIndex::search(std::string_view query, std::size_t limit) const {
  const QueryPlan plan(find_terms(query), bm25_, shortest_);
  if (plan.blocks().empty() || limit == 0) return {};
  const double highest = plan.bound(plan.blocks().front());
  std::vector<SearchHit> found;
  for (const double share : kAcceptedShares) {
    found = search(plan, TopHits(limit, static_cast<float>(share * highest))).sorted();
    if (found.size() == limit) break;
  }
  if (std::ranges::any_of(found, [&](const SearchHit& hit) { return hit.document >= size(); }))
    throw index_error("is damaged");
  return found;
}

}  // namespace starpo
