#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace starpo {

// Byte pair encoding (Sennrich et al., arXiv 1508.07909) of one piece of text.
struct BytePairEncoding {
  std::array<std::int32_t, 256> byte_ids{};

  void add_merge(std::int32_t left, std::int32_t right,
                 std::int32_t merged);  // call in order of rank; later calls override

  // Merges the pair with the lowest rank, leftmost first, until none is left. Appends the ids. O(n log n) for n bytes.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

 private:
  struct Merge {
    std::int32_t rank;
    std::int32_t id;
  };
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::int32_t next_rank_ = 0;
};

}  // namespace starpo
