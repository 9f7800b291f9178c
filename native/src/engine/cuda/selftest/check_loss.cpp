#include <cmath>
#include <cstring>
#include <limits>

#include "algorithm/objectives.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

// A chunk of logits, the inputs of its loss, and reference formulas in double precision.
struct LossCase {
  LossCase(int row_count, int vocabulary, int row_stride)
      : rows(row_count),
        vocab(vocabulary),
        stride(row_stride),
        logits(random_numbers(static_cast<std::size_t>(rows) * stride, 61, 6)),
        targets(random_indices(rows, 62, vocab)),
        weights(random_numbers(rows, 63)),
        rollout_logprobs(random_numbers(rows, 64, 0.6f)),
        advantages(random_numbers(rows, 65, 2)),
        reference_logprobs(random_numbers(rows, 66, 0.9f)) {
    targets[0] = vocab - 1;
    logits[1] = -INFINITY;
    for (int r = 0; r < rows; ++r) {
      const double lp = statistics(r).first;
      weights[r] = std::abs(weights[r]);
      rollout_logprobs[r] += static_cast<float>(lp);
      reference_logprobs[r] += static_cast<float>(lp);
    }
  }

  double z(int row, int id) const {
    return logits[static_cast<std::size_t>(row) * stride + id] / static_cast<double>(temperature);
  }

  // Returns log p(target) and the entropy.
  std::pair<double, double> statistics(int row) const {
    double high = -INFINITY, sum = 0, weighted = 0;
    for (int i = 0; i < vocab; ++i) high = std::max(high, z(row, i));
    for (int i = 0; i < vocab; ++i) sum += std::exp(z(row, i) - high);
    for (int i = 0; i < vocab; ++i)
      if (std::isfinite(z(row, i))) weighted += (z(row, i) - high) * std::exp(z(row, i) - high);
    return {z(row, targets[row]) - high - std::log(sum), std::log(sum) - weighted / sum};
  }

  // Writes d(loss)/d(logits) of a row, from the derivatives with respect to log-probability and entropy.
  void gradient(int row, double from_logprob, double from_entropy, std::vector<double>& result) const {
    const auto [lp, entropy] = statistics(row);
    const double log_sum = z(row, targets[row]) - lp;
    for (int i = 0; i < vocab; ++i) {
      const double logprob = std::max(z(row, i) - log_sum, -1e3), p = std::exp(logprob);
      result[static_cast<std::size_t>(row) * stride + i] =
          ((i == targets[row] ? from_logprob : 0) - p * (from_logprob + from_entropy * (logprob + entropy))) /
          temperature;
    }
  }

  int rows, vocab, stride;
  float temperature = 0.7f;
  std::vector<float> logits;
  std::vector<std::int32_t> targets;
  std::vector<float> weights, rollout_logprobs, advantages, reference_logprobs;
};

enum class Form { given, policy, policy_with_kl };

template <class T>
double agrees(Stream& stream, int rows, int vocab, int stride, Form form, KlEstimator estimator) {
  const LossCase c(rows, vocab, stride);
  PolicyLossConfig config;
  config.clip_low = 0.2;
  config.clip_high = 0.28;
  config.dual_clip = 1.2;
  config.entropy_coefficient = form == Form::policy ? 0.05 : 0;
  const KlConfig kl{0.3, estimator, KlPlacement::loss, ""};

  auto logits = on_device(stream, c.logits);
  auto targets = on_device(stream, c.targets);
  auto weights = on_device(stream, c.weights), rollout = on_device(stream, c.rollout_logprobs),
       advantages = on_device(stream, c.advantages), reference = on_device(stream, c.reference_logprobs),
       logprobs = poisoned<float>(stream, rows), entropies = poisoned<float>(stream, rows),
       only_logprobs = poisoned<float>(stream, rows), only_entropies = poisoned<float>(stream, rows);
  auto gradient_buffer = poisoned<T>(stream, c.logits.size());
  const std::vector<T> poison = on_host(stream, gradient_buffer);
  const Logits chunk{logits.data(), rows, vocab, stride, c.temperature};
  logprob_entropy(stream, chunk, targets.data(), only_logprobs.data(), only_entropies.data());
  if (form == Form::given)
    given_loss(stream, chunk, {targets.data(), weights.data(), advantages.data()}, logprobs.data(), entropies.data(),
               gradient_buffer.data());
  else
    policy_loss(stream, chunk,
                {targets.data(), weights.data(), rollout.data(), advantages.data(),
                 form == Form::policy_with_kl ? reference.data() : nullptr},
                config, kl, logprobs.data(), entropies.data(), gradient_buffer.data());

  std::vector<double> logprobs_expected, entropies_expected, gradient_expected(c.logits.size());
  for (int r = 0; r < rows; ++r) {
    const auto [lp, entropy] = c.statistics(r);
    logprobs_expected.push_back(lp);
    entropies_expected.push_back(entropy);
    float from_logprob = c.weights[r], from_entropy = c.advantages[r];
    if (form != Form::given) {
      const float logprob = static_cast<float>(lp), h = static_cast<float>(entropy);
      const double advantage = c.advantages[r];
      PolicyLossSums sums;
      starpo::policy_loss({&logprob, 1}, {&h, 1}, {&c.rollout_logprobs[r], 1}, {&advantage, 1}, c.weights[r], config,
                          sums, {&from_logprob, 1}, {&from_entropy, 1});
      if (form == Form::policy_with_kl)
        kl_loss({&logprob, 1}, {&c.reference_logprobs[r], 1}, kl, c.weights[r], sums, {&from_logprob, 1});
    }
    c.gradient(r, from_logprob, from_entropy, gradient_expected);
  }
  // The gradient of the element that is -infinity is 0, as is the padding up to a multiple of 8. The other padding and
  // the logits must be unchanged.
  const std::vector<T> gradient = on_host(stream, gradient_buffer);
  std::vector<double> computed, expected;
  bool zero = true, unchanged = same_bits(on_host(stream, logits), c.logits);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (const int column = static_cast<int>(i % stride); column < vocab) {
      computed.push_back(to_float(gradient[i]));
      expected.push_back(gradient_expected[i]);
    } else if (column < (vocab + 7) / 8 * 8) {
      zero = zero && to_float(gradient[i]) == 0;
    } else {
      unchanged = unchanged && std::memcmp(&gradient[i], &poison[i], sizeof poison[i]) == 0;
    }
  }
  const bool same = same_bits(on_host(stream, logprobs), on_host(stream, only_logprobs)) &&
                    same_bits(on_host(stream, entropies), on_host(stream, only_entropies));
  return normalized_mean_square_error(computed, expected) + error_of(stream, logprobs, logprobs_expected) +
         error_of(stream, entropies, entropies_expected) + (same && zero && unchanged ? 0 : 1);
}

// Rows with NaN or +infinity, or without a finite logit, give NaN. A valid row does not.
double detects_non_finite_rows(Stream& stream) {
  constexpr int vocab = 75;
  const float infinity = std::numeric_limits<float>::infinity();
  auto logits = random_numbers(4 * vocab, 67);
  logits[70] = std::numeric_limits<float>::quiet_NaN();
  logits[vocab + 3] = infinity;
  for (int i = 0; i < vocab; ++i) logits[2 * vocab + i] = -infinity;
  auto buffer = on_device(stream, logits), logprobs = poisoned<float>(stream, 4),
       entropies = poisoned<float>(stream, 4);
  auto targets = on_device(stream, std::vector<std::int32_t>(4, 5));
  logprob_entropy(stream, {buffer.data(), 4, vocab, vocab, 1}, targets.data(), logprobs.data(), entropies.data());
  const auto lp = on_host(stream, logprobs), h = on_host(stream, entropies);
  bool correct = std::isfinite(lp[3]) && std::isfinite(h[3]);
  for (int r = 0; r < 3; ++r) correct = correct && std::isnan(lp[r]) && std::isnan(h[r]);
  return correct ? 0 : 1;
}

template <class T>
void append_loss_checks(std::vector<Check>& checks) {
  const double tolerance = kElementwiseTolerance<T>;
  const std::string name = "policy_loss" + type_name<T>();
  checks.push_back({name + "16x37, entropy", tolerance, agrees<T>, 16, 37, 48, Form::policy, KlEstimator::k3});
  checks.push_back({name + "16x75, KL k1", tolerance, agrees<T>, 16, 75, 75, Form::policy_with_kl, KlEstimator::k1});
  checks.push_back({name + "16x75, KL k2", tolerance, agrees<T>, 16, 75, 80, Form::policy_with_kl, KlEstimator::k2});
  checks.push_back({name + "16x75, KL k3", tolerance, agrees<T>, 16, 75, 75, Form::policy_with_kl, KlEstimator::k3});
  checks.push_back({name + "2x5003, entropy", tolerance, agrees<T>, 2, 5003, 5008, Form::policy, KlEstimator::k3});
  checks.push_back(
      {"given_loss" + type_name<T>() + "16x40", tolerance, agrees<T>, 16, 40, 40, Form::given, KlEstimator::k3});
}

}  // namespace

std::vector<Check> loss_checks() {
  std::vector<Check> checks;
  append_loss_checks<float>(checks);
  append_loss_checks<Bf16>(checks);
  checks.push_back({"given_loss fp32 1x33003, many warps", kFp32Tolerance, agrees<float>, 1, 33003, 33003, Form::given,
                    KlEstimator::k3});
  checks.push_back({"logprob_entropy with non-finite logits", kExact, detects_non_finite_rows});
  return checks;
}

}  // namespace starpo::cuda
