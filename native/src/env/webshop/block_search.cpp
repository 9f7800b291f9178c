#include "env/webshop/block_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace starpo {

bool BlockSearch::search(std::uint32_t block, std::span<const BlockTerm> terms, std::uint8_t shortest, TopHits& hits) {
  if (!read_tiers(terms, shortest)) return false;
  set_costs(hits.threshold());
  const std::uint32_t begin = block * kBlockDocuments;
  const auto documents = std::min(kBlockDocuments, static_cast<std::uint32_t>(documents_.lengths.size()) - begin);
  for (std::uint32_t word = 0; word * 64 < documents; ++word)
    for (std::uint64_t left = candidates(word); left != 0; left &= left - 1) {
      const std::uint32_t position = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
      if (position >= documents) break;  // past the last document of the block
      const float score = this->score(terms, begin, position);
      if (score > 0 && score >= hits.threshold()) hits.offer({documents_.numbers[begin + position], score});
    }
  return true;
}

void BlockSearch::prefetch(std::span<const BlockTerm> terms) const {
  constexpr std::size_t line = 64 / sizeof(std::uint64_t);
  for (const auto& [weight, block] : terms)
    for (std::size_t word = 0; word < block.words; word += line) __builtin_prefetch(&postings_[block.begin + word]);
}

bool BlockSearch::read_tiers(std::span<const BlockTerm> terms, std::uint8_t shortest) {
  bits_.clear();
  tests_.clear();
  bound_ = 0;
  std::size_t scratch = 0;
  for (const BlockTerm& term : terms) {
    TierReader reader(postings_.subspan(term.postings.begin, term.postings.words));
    double contribution = 0, contribution_before = 0;
    for (std::uint32_t frequency = 1; frequency <= term.postings.highest_frequency; ++frequency) {
      if (scratch == scratch_.size()) scratch_.emplace_back();
      const Tier tier = reader.next(scratch_[scratch]);
      if (tier.bits == nullptr) return false;
      if (frequency == 1 || tier.bits != bits_.back()) {
        scratch += tier.bits == scratch_[scratch].data();
        contribution_before = contribution;
        tests_.push_back({tier.bits, 0, 0, 0});
      }
      bits_.push_back(tier.bits);
      contribution = bm25_.contribution(term.weight, frequency, shortest);
      Test& test = tests_.back();
      test.loss = contribution - contribution_before;
      test.total_loss = test.loss * (kBlockDocuments - tier.documents);
    }
    bound_ += contribution;
  }
  std::ranges::sort(tests_, std::ranges::greater(), &Test::total_loss);
  return true;
}

void BlockSearch::set_costs(float threshold) {
  // A sum below the threshold's predecessor is not rounded up to the threshold.
  const double slack = bound_ * kRoundingMargin - std::nextafter(threshold, std::numeric_limits<float>::lowest());
  // The unit is slightly too large, so that costs are never rounded up.
  const double unit = slack / kOverflow * kRoundingMargin;
  for (Test& test : tests_) test.cost = test.loss >= slack ? kOverflow : static_cast<std::uint32_t>(test.loss / unit);
  std::erase_if(tests_, [](const Test& test) { return test.cost == 0 || test.total_loss == 0; });
  any_term_ = threshold <= 0;
}

std::uint64_t BlockSearch::add_cost(Counters& counters, std::uint64_t lacking, std::uint32_t cost) {
  std::uint64_t carry = 0;
#pragma GCC unroll 6  // at -O2 as well
  for (int bit = 0; bit < kCounterBits; ++bit) {
    const std::uint64_t added = (cost >> bit & 1) != 0 ? lacking : 0, sum = counters[bit] ^ added;
    const std::uint64_t next_carry = (counters[bit] & added) | (carry & sum);
    counters[bit] = sum ^ carry;
    carry = next_carry;
  }
  return carry;
}

std::uint64_t BlockSearch::candidates(std::uint32_t word) const {
  std::uint64_t left = any_term_ ? 0 : ~0ull;
  if (any_term_)
    for (const std::uint64_t* bits : bits_) left |= bits[word];
  Counters counters{};
  for (const Test& test : tests_) {
    const std::uint64_t lacking = ~test.bits[word];
    left &= ~(test.cost == kOverflow ? lacking : add_cost(counters, lacking, test.cost));
    if (left == 0) break;
  }
  return left;
}

float BlockSearch::score(std::span<const BlockTerm> terms, std::uint32_t begin, std::uint32_t position) const {
  const std::uint32_t word = position / 64, bit = position % 64;
  const std::uint8_t length = documents_.lengths[begin + position];
  const std::uint64_t* const* tiers = bits_.data();
  // Lucene adds single precision contributions in double precision. The terms are in alphabetical order.
  double sum = 0;
  for (const BlockTerm& term : terms) {
    const std::uint32_t highest = term.postings.highest_frequency;
    std::uint32_t frequency = 0;
    while (frequency < highest && (tiers[frequency][word] >> bit & 1) != 0) ++frequency;
    if (frequency > 0) sum += bm25_.contribution(term.weight, frequency, length);
    tiers += highest;
  }
  return static_cast<float>(sum);
}

}  // namespace starpo
