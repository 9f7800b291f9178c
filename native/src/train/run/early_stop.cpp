#include "train/run/early_stop.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "journal/logged_metrics.h"
#include "journal/metric_names.h"

namespace starpo {
namespace {

// RAGEN-2's constants.
constexpr int kBaselineIterations = 10, kLowIterations = 10;
constexpr double kFailedSuccess = 0.01;

std::string success_name(const std::string& label) { return "evaluation/" + label + "/success_rate"; }

// The journal has only finite metrics.
std::optional<double> finite_metric(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(std::string(name));
  if (found == metrics.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string consecutive(int count, const std::string& unit) {
  return count == 1 ? "1 " + unit : std::to_string(count) + " consecutive " + unit + "s";
}

}  // namespace

EarlyStop::EarlyStop(const RunConfig& config)
    : limits_(config.task == Task::reinforce ? config.early_stop : EarlyStopConfig{}),
      first_iteration_(first_iteration(config)) {}

void EarlyStop::restore(const std::filesystem::path& events, int iteration) {
  if (limits_.reward_std == 0 && limits_.failed_evaluations == 0 && limits_.empty_filters == 0) return;
  const auto wanted = [](std::string_view name) {
    return name == metric::kRolloutRewardStdInGroup || name == metric::kFilterKeptGroups ||
           name.ends_with("/success_rate");
  };
  for (const auto& [number, logged] : read_logged_metrics(events, iteration, wanted)) {
    if (number > first_iteration_) add_iteration(logged.iteration);
    for (const auto& [label, metrics] : logged.evaluations) add_evaluation(number, label, metrics);
    // A process that was killed before it ended the run has yet to end it.
    if (number < iteration || logged.ended) reason_.clear();
  }
}

void EarlyStop::add_iteration(const Metrics& metrics) {
  if (const auto reward_std = finite_metric(metrics, metric::kRolloutRewardStdInGroup)) add_reward_std(*reward_std);
  if (const auto kept = finite_metric(metrics, metric::kFilterKeptGroups)) {
    empty_filters_ = *kept == 0 ? empty_filters_ + 1 : 0;
    if (limits_.empty_filters > 0 && empty_filters_ >= limits_.empty_filters)
      stop("the filter kept no group in " + consecutive(empty_filters_, "iteration") + " (early_stop.empty_filters)");
  }
}

void EarlyStop::add_reward_std(double reward_std) {
  if (baseline_iterations_ < kBaselineIterations) {
    baseline_sum_ += reward_std;
    ++baseline_iterations_;
    return;
  }
  const double baseline = baseline_sum_ / kBaselineIterations, limit = limits_.reward_std * baseline;
  low_stds_ = reward_std < limit ? low_stds_ + 1 : 0;
  if (low_stds_ >= kLowIterations)
    stop("the in-group reward std was below " + short_number(limit) + " in " + consecutive(low_stds_, "iteration") +
         ": " + short_number(100 * limits_.reward_std) + " % of " + short_number(baseline) +
         ", its mean over the first " + std::to_string(kBaselineIterations) + " iterations (early_stop.reward_std)");
}

void EarlyStop::add_evaluation(int iteration, const std::string& label, const Metrics& metrics) {
  Failures& failures = failures_[label];
  if (iteration <= std::max(first_iteration_, failures.iteration)) return;
  const auto success = finite_metric(metrics, success_name(label));
  if (!success) return;
  failures.iteration = iteration;
  failures.count = *success < kFailedSuccess ? failures.count + 1 : 0;
  if (limits_.failed_evaluations > 0 && failures.count >= limits_.failed_evaluations)
    stop("the success rate of " + label + " was below " + short_number(100 * kFailedSuccess) + " % in " +
         consecutive(failures.count, "evaluation") + " (early_stop.failed_evaluations)");
}

void EarlyStop::stop(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
  low_stds_ = empty_filters_ = 0;
  for (auto& [label, failures] : failures_) failures.count = 0;
}

}  // namespace starpo
