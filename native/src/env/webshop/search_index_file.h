#pragma once

#include <bit>
#include <cstdint>

namespace starpo {

static_assert(std::endian::native == std::endian::little, "index files are little-endian");

// The start of an index. These sections follow:
//   uint64 [terms]: ends of the terms in the text
//   uint64 [terms]: ends of the terms' blocks
//   uint64 [words]: postings, see append_tiers
//   PostingBlock [blocks]: by term, then by block
//   uint32 [terms]: documents with the term
//   uint32 [documents]: numbers of the documents, in the order of their positions
//   uint8 [documents]: encoded lengths of the documents, in the order of their positions
//   text: all terms, sorted
struct SearchIndexHeader {
  static constexpr std::uint64_t kMagic = 0x3230584449505353;  // "SSPIDX02"

  std::uint64_t magic = kMagic;
  std::uint64_t tokens = 0;
  std::uint64_t terms = 0;
  std::uint64_t term_bytes = 0;
  std::uint64_t words = 0;
  std::uint64_t blocks = 0;
  std::uint32_t documents = 0;
  std::uint32_t documents_with_terms = 0;
};

}  // namespace starpo
