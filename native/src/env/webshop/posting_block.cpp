#include "env/webshop/posting_block.h"

#include <algorithm>

namespace starpo {
namespace {

constexpr std::size_t kNumbersPerWord = 4;  // 16 bits each

// A tier with at least this many documents is stored as bits. They take up to four times the memory of positions, but
// need no decoding.
constexpr std::size_t kFewestBits = 64;

constexpr std::size_t tier_words(std::size_t documents) {
  return documents < kFewestBits ? documents / kNumbersPerWord + 1 : 1 + kBlockWords;
}

std::uint64_t number_at(const std::uint64_t* words, std::size_t i) {
  return words[i / kNumbersPerWord] >> i % kNumbersPerWord * 16 & 0xFFFF;
}

void set_number(std::uint64_t* words, std::size_t i, std::uint64_t number) {
  words[i / kNumbersPerWord] |= number << i % kNumbersPerWord * 16;
}

void set_bit(std::uint64_t* bits, std::uint64_t position) { bits[position / 64] |= 1ull << (position % 64); }

}  // namespace

void append_tiers(std::vector<Posting> tier, std::vector<std::uint64_t>& words) {
  for (std::uint32_t frequency = 1; !tier.empty(); ++frequency) {
    words.resize(words.size() + tier_words(tier.size()));
    std::uint64_t* const begin = &words[words.size() - tier_words(tier.size())];
    set_number(begin, 0, tier.size());
    for (std::size_t i = 0; i < tier.size(); ++i) {
      const std::uint32_t position = tier[i].position % kBlockDocuments;
      if (tier.size() < kFewestBits)
        set_number(begin, i + 1, position);
      else
        set_bit(begin + 1, position);
    }
    std::erase_if(tier, [&](const Posting& posting) { return posting.frequency == frequency; });
  }
}

Tier TierReader::next(BlockBits& scratch) {
  if (rest_.empty()) return {};
  const std::uint64_t* tier = rest_.data();
  const auto documents = static_cast<std::uint32_t>(number_at(tier, 0));
  const std::size_t size = tier_words(documents);
  if (documents == 0 || documents > previous_.documents || size > rest_.size()) return {};
  rest_ = rest_.subspan(size);
  // Each tier is a part of the previous one.
  if (documents == previous_.documents && previous_.bits != nullptr) return previous_;
  if (documents >= kFewestBits) return previous_ = {tier + 1, documents};
  scratch.fill(0);
  for (std::size_t i = 1; i <= documents; ++i) set_bit(scratch.data(), number_at(tier, i) % kBlockDocuments);
  return previous_ = {scratch.data(), documents};
}

}  // namespace starpo
