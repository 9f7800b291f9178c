#include "tokenizer/byte_pair_encoding.h"

#include <queue>

namespace starpo {
namespace {

constexpr std::int32_t kNoPart = -1;

// A token of the piece and the positions of its neighbors. Merging removes the right part of a pair.
struct Part {
  std::int32_t id;
  std::int32_t left, right;
};

// A possible merge of the part at `position` with its right neighbor, as they were when it was queued.
struct Candidate {
  std::int32_t rank, position;
  std::int32_t left_id, right_id, merged_id;

  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

void BytePairEncoding::add_merge(std::int32_t left, std::int32_t right, std::int32_t merged) {
  merges_[pair_key(left, right)] = {next_rank_++, merged};
}

const BytePairEncoding::Merge* BytePairEncoding::find_merge(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BytePairEncoding::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  const auto size = static_cast<std::int32_t>(piece.size());
  std::vector<Part> parts;
  parts.reserve(piece.size());
  for (std::int32_t i = 0; i < size; ++i)
    parts.push_back({byte_ids[static_cast<unsigned char>(piece[i])], i - 1, i + 1 < size ? i + 1 : kNoPart});

  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::int32_t position) {
    if (position == kNoPart || parts[position].right == kNoPart) return;
    const std::int32_t left = parts[position].id, right = parts[parts[position].right].id;
    if (const Merge* merge = find_merge(left, right)) candidates.push({merge->rank, position, left, right, merge->id});
  };
  for (std::int32_t i = 0; i + 1 < size; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Part& part = parts[best.position];
    const bool stale = part.id != best.left_id || part.right == kNoPart || parts[part.right].id != best.right_id;
    if (stale) continue;
    Part& removed = parts[part.right];
    part.id = best.merged_id;
    part.right = removed.right;
    removed.id = kNoPart;
    if (part.right != kNoPart) parts[part.right].left = best.position;
    consider(part.left);
    consider(best.position);
  }
  for (const Part& part : parts)
    if (part.id != kNoPart) ids.push_back(part.id);
}

}  // namespace starpo
