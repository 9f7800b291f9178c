#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "config/run_config.h"
#include "journal/journal.h"

namespace starpo {

// The rules of early_stop (docs/algorithms.md#early-stops). A rule that stops the run resets all counts, so that a
// resumed or extended run does not stop again at once.
class EarlyStop {
 public:
  explicit EarlyStop(const RunConfig&);

  // Counts the iterations up to the given one, and their evaluations, from the journal of a run that is resumed.
  // Errors: journal_unreadable.
  void restore(const std::filesystem::path& events, int iteration);

  void add_iteration(const Metrics&);
  // Ignores an evaluation before training, and one that was counted already.
  void add_evaluation(int iteration, const std::string& label, const Metrics&);

  // Returns the rule that stops the run, with its numbers, or "".
  const std::string& reason() const { return reason_; }

 private:
  struct Failures {
    int iteration = 0;  // of the last evaluation
    int count = 0;      // consecutive
  };

  void add_reward_std(double);
  void stop(const std::string& reason);

  EarlyStopConfig limits_;
  int first_iteration_;
  double baseline_sum_ = 0;
  int baseline_iterations_ = 0;
  int low_stds_ = 0;                          // consecutive iterations
  int empty_filters_ = 0;                     // consecutive iterations
  std::map<std::string, Failures> failures_;  // by label
  std::string reason_;
};

}  // namespace starpo
