#include "env/webshop/search_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

#include "base/error.h"
#include "env/webshop/analyzer.h"

namespace starpo {
namespace {

static_assert(std::endian::native == std::endian::little, "index files are little-endian");

constexpr float kTermSaturation = 0.9f;          // k1
constexpr float kLengthNormalization = 0.4f;     // b
constexpr std::uint32_t kExactLengthCount = 24;  // lengths below are stored as they are, others relative to it
constexpr std::size_t kWriteBytes = 1 << 20;
constexpr std::uint64_t kIndexMagic = 0x3130584449505353;  // "SSPIDX01"

// Sections follow in this order: postings ends, term ends, documents per term, lengths, terms, postings.
struct IndexHeader {
  std::uint64_t magic = kIndexMagic;
  std::uint64_t tokens = 0;
  std::uint64_t terms = 0;
  std::uint64_t term_bytes = 0;
  std::uint64_t postings_bytes = 0;
  std::uint32_t documents = 0;
  std::uint32_t documents_with_terms = 0;
};

void append_varint(std::string& bytes, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

// Returns false at the end of the bytes and for a number that is too long.
bool read_varint(std::string_view& bytes, std::uint32_t& value) {
  value = 0;
  for (int shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <class T>
std::string_view bytes_of_array(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Error index_error(const std::string& problem) {
  return Error("index_invalid", "the search index " + problem, "delete the index, so that it is built again");
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

std::string_view part_of(std::string_view text, std::span<const std::uint64_t> ends, std::size_t i) {
  const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return text.substr(begin, ends[i] - begin);
}

}  // namespace

std::uint8_t encode_document_length(std::uint32_t length) {
  if (length < kExactLengthCount) return static_cast<std::uint8_t>(length);
  const std::uint32_t above = length - kExactLengthCount;
  const int bits = std::bit_width(above);
  if (bits < 4) return static_cast<std::uint8_t>(kExactLengthCount + above);
  const int shift = bits - 4;
  return static_cast<std::uint8_t>(kExactLengthCount +
                                   ((above >> shift & 7) | static_cast<std::uint32_t>(shift + 1) << 3));
}

std::uint32_t decode_document_length(std::uint8_t encoded) {
  if (encoded < kExactLengthCount) return encoded;
  const std::uint32_t above = encoded - kExactLengthCount, shift = above >> 3;
  return kExactLengthCount + (shift == 0 ? above : ((above & 7) | 8) << (shift - 1));
}

void SearchIndexBuilder::add(std::string_view text) {
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
}

void SearchIndexBuilder::finish(const std::function<void(std::string_view)>& write) && {
  std::vector<const std::pair<const std::string, Postings>*> sorted;
  sorted.reserve(terms_.size());
  for (const auto& term : terms_) sorted.push_back(&term);
  std::ranges::sort(sorted, {}, [](const auto* term) -> const std::string& { return term->first; });

  IndexHeader header;
  std::vector<std::uint64_t> term_ends, postings_ends;
  std::vector<std::uint32_t> documents;
  for (const auto* term : sorted) {
    term_ends.push_back(header.term_bytes += term->first.size());
    postings_ends.push_back(header.postings_bytes += term->second.bytes.size());
    documents.push_back(term->second.documents);
  }
  header.tokens = tokens_;
  header.terms = sorted.size();
  header.documents = static_cast<std::uint32_t>(lengths_.size());
  header.documents_with_terms = documents_with_terms_;

  write({reinterpret_cast<const char*>(&header), sizeof header});
  write(bytes_of_array(postings_ends));
  write(bytes_of_array(term_ends));
  write(bytes_of_array(documents));
  write(bytes_of_array(lengths_));
  std::string text;
  for (const auto* term : sorted) text += term->first;
  write(text);
  // Large pieces, because a piece can be a system call.
  text.clear();
  for (const auto* term : sorted) {
    text += term->second.bytes;
    if (text.size() > kWriteBytes || term == sorted.back()) {
      write(text);
      text.clear();
    }
  }
}

SearchIndex::SearchIndex(std::string_view bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0)
    throw std::logic_error("the bytes of a search index must be aligned");
  SectionReader reader(bytes);
  IndexHeader header;
  std::memcpy(&header, reader.text(sizeof header).data(), sizeof header);
  if (header.magic != kIndexMagic) throw index_error("has an unknown format");
  postings_ends_ = reader.array<std::uint64_t>(header.terms);
  term_ends_ = reader.array<std::uint64_t>(header.terms);
  documents_ = reader.array<std::uint32_t>(header.terms);
  lengths_ = reader.array<std::uint8_t>(header.documents);
  text_ = reader.text(header.term_bytes);
  postings_ = reader.text(header.postings_bytes);
  if (!reader.at_end()) throw index_error("is damaged");
  require_ends(term_ends_, text_.size());
  require_ends(postings_ends_, postings_.size());
  documents_with_terms_ = header.documents_with_terms;

  const float average =
      documents_with_terms_ == 0
          ? 1
          : static_cast<float>(static_cast<double>(header.tokens) / static_cast<double>(documents_with_terms_));
  for (int length = 0; length < 256; ++length) {
    const auto decoded = static_cast<float>(decode_document_length(static_cast<std::uint8_t>(length)));
    inverse_lengths_.push_back(
        1 / (kTermSaturation * ((1 - kLengthNormalization) + kLengthNormalization * decoded / average)));
  }
}

std::string_view SearchIndex::find(std::string_view term, std::uint32_t& documents) const {
  std::size_t low = 0, high = term_ends_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (part_of(text_, term_ends_, middle) < term)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == term_ends_.size() || part_of(text_, term_ends_, low) != term) return {};
  documents = documents_[low];
  return part_of(postings_, postings_ends_, low);
}

std::vector<SearchHit> SearchIndex::search(std::string_view query, std::size_t limit) const {
  std::map<std::string, int> counts;
  for (std::string& term : analyze_english(query)) ++counts[std::move(term)];

  std::vector<double> scores(lengths_.size());
  std::vector<std::uint32_t> found;
  for (const auto& [term, count] : counts) {
    std::uint32_t documents = 0;
    std::string_view postings = find(term, documents);
    const auto rarity = static_cast<float>(
        std::log(1 + (documents_with_terms_ - static_cast<double>(documents) + 0.5) / (documents + 0.5)));
    const float weight = static_cast<float>(count) * rarity;
    std::uint32_t document = 0, increase = 0, frequency = 0;
    while (read_varint(postings, increase) && read_varint(postings, frequency)) {
      document += increase;
      if (document >= scores.size()) throw index_error("is damaged");
      if (scores[document] == 0) found.push_back(document);
      scores[document] += weight - weight / (1 + static_cast<float>(frequency) * inverse_lengths_[lengths_[document]]);
    }
  }

  std::vector<SearchHit> hits;
  hits.reserve(found.size());
  for (const std::uint32_t document : found) hits.push_back({document, static_cast<float>(scores[document])});
  const auto better = [](const SearchHit& a, const SearchHit& b) {
    return a.score != b.score ? a.score > b.score : a.document < b.document;
  };
  const std::size_t count = std::min(limit, hits.size());
  std::ranges::partial_sort(hits, hits.begin() + static_cast<std::ptrdiff_t>(count), better);
  hits.resize(count);
  return hits;
}

}  // namespace starpo
