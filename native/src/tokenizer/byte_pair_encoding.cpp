#include "tokenizer/byte_pair_encoding.h"

#include <limits>

namespace starpo {
namespace {

std::uint64_t pair_key(std::int32_t left, std::int32_t right) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right); }

}  // namespace

void BytePairEncoding::add_merge(std::int32_t left, std::int32_t right, std::int32_t merged) {
  merges_.emplace(pair_key(left, right), Merge{static_cast<std::int32_t>(merges_.size()), merged});
}

void BytePairEncoding::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  std::vector<std::int32_t> parts;
  parts.reserve(piece.size());
  for (const unsigned char byte : piece) parts.push_back(byte_ids[byte]);
  while (parts.size() > 1) {
    Merge best{std::numeric_limits<std::int32_t>::max(), 0};
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = merges_.find(pair_key(parts[i], parts[i + 1]));
      if (found == merges_.end() || found->second.rank >= best.rank) continue;
      best = found->second;
      place = i;
    }
    if (best.rank == std::numeric_limits<std::int32_t>::max()) break;
    parts[place] = best.id;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  ids.insert(ids.end(), parts.begin(), parts.end());
}

}  // namespace starpo
