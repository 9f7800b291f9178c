#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "journal/metric_names.h"
#include "train/diagnostics/mutual_information.h"

using namespace starpo;

namespace {

double value_of(const Metrics& metrics, std::string_view name) { return metrics.at(std::string(name)); }

Metrics information(const ThoughtLikelihoods& likelihoods) {
  Metrics metrics;
  add_mutual_information(likelihoods, metrics);
  return metrics;
}

// A policy that chooses one of some thoughts, of 10 tokens each, by a distribution over them that belongs to the
// prompt.
class ThoughtPolicy {
 public:
  // weights: [prompts][thoughts], not normalised.
  explicit ThoughtPolicy(std::vector<std::vector<double>> weights) : probabilities_(std::move(weights)) {
    for (auto& own : probabilities_) {
      const double sum = std::accumulate(own.begin(), own.end(), 0.0);
      for (double& each : own) each /= sum;
    }
  }

  ThoughtLikelihoods think(std::uint32_t seed, int thoughts_each) const {
    const Philox random{seed, RandomStream::train_sampling};
    const int prompts = static_cast<int>(probabilities_.size());
    ThoughtLikelihoods likelihoods{prompts, {}, {}, {}, {}};
    for (int prompt = 0; prompt < prompts; ++prompt) {
      for (int i = 0; i < thoughts_each; ++i) {
        double left = uniform_open(random(0, static_cast<std::uint32_t>(prompt), static_cast<std::uint32_t>(i), 0)[0]);
        std::size_t thought = 0;
        while (thought + 1 < probabilities_[prompt].size() && left > probabilities_[prompt][thought])
          left -= probabilities_[prompt][thought++];
        likelihoods.own.push_back(prompt);
        likelihoods.same.push_back(static_cast<int>(thought));
        likelihoods.tokens.push_back(10);
        for (const auto& own : probabilities_) likelihoods.values.push_back(std::log(own[thought]));
      }
    }
    return likelihoods;
  }

 private:
  std::vector<std::vector<double>> probabilities_;
};

}  // namespace

TEST_CASE(
    "thoughts that depend on their prompt have nearly all information that they can have, others none: 20 seeds") {
  constexpr std::size_t prompts = 8, thoughts = 64;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Philox random{seed, RandomStream::initial_weights};
    const auto weight = [&](std::size_t prompt, std::size_t thought) {
      return 0.01 +
             uniform_open(random(1, static_cast<std::uint32_t>(prompt), static_cast<std::uint32_t>(thought), 0)[0]);
    };
    std::vector<std::vector<double>> dependent(prompts, std::vector<double>(thoughts)), independent = dependent;
    for (std::size_t prompt = 0; prompt < prompts; ++prompt) {
      for (std::size_t thought = 0; thought < thoughts; ++thought) {
        // Each prompt has eight thoughts of its own, and now and then another's.
        dependent[prompt][thought] = weight(prompt, thought) * (thought / 8 == prompt ? 1 : 0.001);
        independent[prompt][thought] = weight(0, thought);
      }
    }
    const auto bound = information(ThoughtPolicy(dependent).think(seed, 8)),
               free = information(ThoughtPolicy(independent).think(seed, 8));
    const double ceiling = value_of(bound, metric::diagnostics_mutual_information_ceiling);
    CHECK(ceiling == doctest::Approx(std::log(8)));
    CHECK(value_of(bound, metric::diagnostics_mutual_information) >= 0.8 * ceiling);
    CHECK(value_of(bound, metric::diagnostics_mutual_information) <= ceiling);
    CHECK(std::abs(value_of(free, metric::diagnostics_mutual_information)) <= 0.05 * ceiling);
    CHECK(value_of(bound, metric::diagnostics_retrieval_accuracy) > 0.9);
    CHECK(value_of(free, metric::diagnostics_retrieval_accuracy) == doctest::Approx(1.0 / 8));
    CHECK(value_of(free, metric::diagnostics_retrieval_accuracy_at_k) == doctest::Approx(2.0 / 8));
  }
}

TEST_CASE("information, entropies and retrieval of a matrix by hand") {
  // Three thoughts, of 2, 3 and 5 tokens, under two prompts: the first two on prompt 0, of which the second says what
  // the third says on prompt 1.
  const ThoughtLikelihoods likelihoods{
      2,
      {0, 0, 1},
      {0, 1, 1},
      {2, 3, 5},
      {std::log(0.5), std::log(0.1), std::log(0.2), std::log(0.4), std::log(0.2), std::log(0.4)}};
  const auto metrics = information(likelihoods);
  const double matched = (std::log(0.5) + std::log(0.2) + std::log(0.4)),
               marginal = (std::log(0.3) + std::log(0.3) + std::log(0.3));
  CHECK(value_of(metrics, metric::diagnostics_mutual_information) == doctest::Approx((matched - marginal) / 3));
  CHECK(value_of(metrics, metric::diagnostics_conditional_entropy) == doctest::Approx(-matched / 3));
  CHECK(value_of(metrics, metric::diagnostics_marginal_entropy) == doctest::Approx(-marginal / 3));
  CHECK(value_of(metrics, metric::diagnostics_mutual_information_per_token) ==
        doctest::Approx((matched - marginal) / 10));
  CHECK(value_of(metrics, metric::diagnostics_conditional_entropy_per_token) == doctest::Approx(-matched / 10));
  CHECK(value_of(metrics, metric::diagnostics_retrieval_accuracy) == doctest::Approx(2.0 / 3));
  CHECK(value_of(metrics, metric::diagnostics_retrieval_ceiling) == doctest::Approx(2.0 / 3));
  CHECK_FALSE(metrics.contains(std::string(metric::diagnostics_retrieval_accuracy_at_k)));  // two of two is no question
}

TEST_CASE("among k likeliest of more prompts, a tie shares the credit") {
  // Own prompts 0, 1, 2: ranked second, tied for the second place with one other, and last.
  const ThoughtLikelihoods likelihoods{3, {0, 1, 2}, {0, 1, 2}, {1, 1, 1}, {-2, -1, -3, -1, -2, -2, -1, -2, -3}};
  const auto metrics = information(likelihoods);
  CHECK(value_of(metrics, metric::diagnostics_retrieval_k) == 2);
  CHECK(value_of(metrics, metric::diagnostics_retrieval_accuracy) == 0);
  CHECK(value_of(metrics, metric::diagnostics_retrieval_accuracy_at_k) == doctest::Approx(1.5 / 3));
  CHECK(value_of(metrics, metric::diagnostics_retrieval_ceiling) == 1);
}

TEST_CASE("of one thought on several prompts, only those on the commonest k can be retrieved") {
  // Twice on prompt 0, once each on 1 and 2; and another one on prompt 1.
  const ThoughtLikelihoods likelihoods{
      3, {0, 0, 1, 2, 1}, {0, 0, 0, 0, 1}, {1, 1, 1, 1, 1}, std::vector<double>(15, -1)};
  const auto metrics = information(likelihoods);
  CHECK(value_of(metrics, metric::diagnostics_retrieval_ceiling) == doctest::Approx(3.0 / 5));
  CHECK(value_of(metrics, metric::diagnostics_retrieval_ceiling_at_k) == doctest::Approx(4.0 / 5));
}

TEST_CASE("of one prompt, or of no thoughts, there is nothing to tell") {
  CHECK(information({1, {0}, {0}, {4}, {-3}}).empty());
  CHECK(information({4, {}, {}, {}, {}}).empty());
}

TEST_CASE("likelihoods far below what an exponential can hold have their information all the same") {
  const auto metrics = information({2, {0, 1}, {0, 1}, {900, 900}, {-2000, -2500, -2600, -2000}});
  CHECK(value_of(metrics, metric::diagnostics_mutual_information) == doctest::Approx(std::log(2)));
}
