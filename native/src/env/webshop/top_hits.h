#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace starpo {

struct SearchHit {
  std::uint32_t document;
  float score;

  // Equal scores are ordered by document number.
  bool is_better_than(const SearchHit& other) const {
    return score != other.score ? score > other.score : document < other.document;
  }
};

// The best hits of a search.
class TopHits {
 public:
  // Accepts hits with a score of at least `threshold`, and keeps the best `limit`, which is positive.
  TopHits(std::size_t limit, float threshold) : limit_(limit), threshold_(threshold) {}

  // A document with a lower score is not accepted.
  float threshold() const { return threshold_; }
  bool is_full() const { return hits_.size() == limit_; }

  void offer(const SearchHit& hit) {
    if (hit.score < threshold_) return;
    if (is_full()) {
      if (!hit.is_better_than(hits_.front())) return;
      std::ranges::pop_heap(hits_, kBetter);
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::ranges::push_heap(hits_, kBetter);
    if (is_full()) threshold_ = hits_.front().score;
  }

  // Returns the hits, best first.
  std::vector<SearchHit> sorted() && {
    std::ranges::sort_heap(hits_, kBetter);
    return std::move(hits_);
  }

 private:
  static constexpr auto kBetter = [](const SearchHit& a, const SearchHit& b) { return a.is_better_than(b); };

  std::size_t limit_;
  float threshold_;
  std::vector<SearchHit> hits_;  // a heap with the worst hit first
};

}  // namespace starpo
