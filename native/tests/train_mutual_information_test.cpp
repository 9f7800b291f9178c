#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "journal/metric_names.h"
#include "train/diagnostics/mutual_information.h"

using namespace starpo;

namespace {

double value_of(const Metrics& metrics, std::string_view name) { return metrics.at(std::string(name)); }

Metrics information(const ReasoningLikelihoods& likelihoods) {
  Metrics metrics;
  add_mutual_information(likelihoods, metrics);
  return metrics;
}

// A policy that chooses one of several reasoning texts of 10 tokens each, with a distribution per prompt.
class ReasoningPolicy {
 public:
  // weights: [prompts][texts], not normalized.
  explicit ReasoningPolicy(std::vector<std::vector<double>> weights) : probabilities_(std::move(weights)) {
    for (auto& own : probabilities_) {
      const double sum = std::accumulate(own.begin(), own.end(), 0.0);
      for (double& each : own) each /= sum;
    }
  }

  ReasoningLikelihoods think(std::uint32_t seed, int thoughts_each) const {
    const Philox random{seed, RandomStream::train_sampling};
    const int prompts = static_cast<int>(probabilities_.size());
    ReasoningLikelihoods likelihoods{prompts, {}, {}, {}, {}};
    for (int prompt = 0; prompt < prompts; ++prompt) {
      for (int i = 0; i < thoughts_each; ++i) {
        double left = uniform_open(random(0, static_cast<std::uint32_t>(prompt), static_cast<std::uint32_t>(i), 0)[0]);
        std::size_t text = 0;
        while (text + 1 < probabilities_[prompt].size() && left > probabilities_[prompt][text])
          left -= probabilities_[prompt][text++];
        likelihoods.own_prompts.push_back(prompt);
        likelihoods.text_ids.push_back(static_cast<int>(text));
        likelihoods.tokens.push_back(10);
        for (const auto& own : probabilities_) likelihoods.values.push_back(std::log(own[text]));
      }
    }
    return likelihoods;
  }

 private:
  std::vector<std::vector<double>> probabilities_;
};

}  // namespace

TEST_CASE("reasoning that depends on the prompt reaches nearly the maximum mutual information, other reasoning none") {
  constexpr std::size_t prompts = 8, texts = 64;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Philox random{seed, RandomStream::initial_weights};
    const auto weight = [&](std::size_t prompt, std::size_t text) {
      return 0.01 + uniform_open(random(1, static_cast<std::uint32_t>(prompt), static_cast<std::uint32_t>(text), 0)[0]);
    };
    std::vector<std::vector<double>> dependent(prompts, std::vector<double>(texts)), independent = dependent;
    for (std::size_t prompt = 0; prompt < prompts; ++prompt) {
      for (std::size_t text = 0; text < texts; ++text) {
        // Each prompt has eight reasoning texts of its own, and occasionally one of another prompt.
        dependent[prompt][text] = weight(prompt, text) * (text / 8 == prompt ? 1 : 0.001);
        independent[prompt][text] = weight(0, text);
      }
    }
    const auto bound = information(ReasoningPolicy(dependent).think(seed, 8)),
               free = information(ReasoningPolicy(independent).think(seed, 8));
    const double ceiling = value_of(bound, metric::kDiagnosticsMutualInformationCeiling);
    CHECK(ceiling == doctest::Approx(std::log(8)));
    CHECK(value_of(bound, metric::kDiagnosticsMutualInformation) >= 0.8 * ceiling);
    CHECK(value_of(bound, metric::kDiagnosticsMutualInformation) <= ceiling);
    CHECK(std::abs(value_of(free, metric::kDiagnosticsMutualInformation)) <= 0.05 * ceiling);
    CHECK(value_of(bound, metric::kDiagnosticsRetrievalAccuracy) > 0.9);
    CHECK(value_of(free, metric::kDiagnosticsRetrievalAccuracy) == doctest::Approx(1.0 / 8));
    CHECK(value_of(free, metric::kDiagnosticsRetrievalAccuracyAtK) == doctest::Approx(2.0 / 8));
  }
}

TEST_CASE("mutual information, entropies and retrieval match a hand-computed matrix") {
  // Three texts of 2, 3 and 5 tokens given two prompts. The first two belong to prompt 0, and the second equals the
  // third, which belongs to prompt 1.
  const ReasoningLikelihoods likelihoods{
      2,
      {0, 0, 1},
      {0, 1, 1},
      {2, 3, 5},
      {std::log(0.5), std::log(0.1), std::log(0.2), std::log(0.4), std::log(0.2), std::log(0.4)}};
  const auto metrics = information(likelihoods);
  const double matched = (std::log(0.5) + std::log(0.2) + std::log(0.4)),
               marginal = (std::log(0.3) + std::log(0.3) + std::log(0.3));
  CHECK(value_of(metrics, metric::kDiagnosticsMutualInformation) == doctest::Approx((matched - marginal) / 3));
  CHECK(value_of(metrics, metric::kDiagnosticsConditionalEntropy) == doctest::Approx(-matched / 3));
  CHECK(value_of(metrics, metric::kDiagnosticsMarginalEntropy) == doctest::Approx(-marginal / 3));
  CHECK(value_of(metrics, metric::kDiagnosticsMutualInformationPerToken) == doctest::Approx((matched - marginal) / 10));
  CHECK(value_of(metrics, metric::kDiagnosticsConditionalEntropyPerToken) == doctest::Approx(-matched / 10));
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalAccuracy) == doctest::Approx(2.0 / 3));
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalCeiling) == doctest::Approx(2.0 / 3));
  CHECK_FALSE(metrics.contains(std::string(metric::kDiagnosticsRetrievalAccuracyAtK)));  // undefined for two prompts
}

TEST_CASE("tied prompts share the credit of retrieval at k") {
  // Own prompts 0, 1 and 2 are ranked second, tied for second with one other, and last.
  const ReasoningLikelihoods likelihoods{3, {0, 1, 2}, {0, 1, 2}, {1, 1, 1}, {-2, -1, -3, -1, -2, -2, -1, -2, -3}};
  const auto metrics = information(likelihoods);
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalK) == 2);
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalAccuracy) == 0);
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalAccuracyAtK) == doctest::Approx(1.5 / 3));
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalCeiling) == 1);
}

TEST_CASE("for reasoning shared by prompts, only the k most frequent prompts can be retrieved") {
  // One text twice on prompt 0 and once each on 1 and 2, and another text on prompt 1.
  const ReasoningLikelihoods likelihoods{
      3, {0, 0, 1, 2, 1}, {0, 0, 0, 0, 1}, {1, 1, 1, 1, 1}, std::vector<double>(15, -1)};
  const auto metrics = information(likelihoods);
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalCeiling) == doctest::Approx(3.0 / 5));
  CHECK(value_of(metrics, metric::kDiagnosticsRetrievalCeilingAtK) == doctest::Approx(4.0 / 5));
}

TEST_CASE("mutual information is undefined for one prompt or no reasoning") {
  CHECK(information({1, {0}, {0}, {4}, {-3}}).empty());
  CHECK(information({4, {}, {}, {}, {}}).empty());
}

TEST_CASE("mutual information is correct for log-likelihoods whose exponential underflows") {
  const auto metrics = information({2, {0, 1}, {0, 1}, {900, 900}, {-2000, -2500, -2600, -2000}});
  CHECK(value_of(metrics, metric::kDiagnosticsMutualInformation) == doctest::Approx(std::log(2)));
}
