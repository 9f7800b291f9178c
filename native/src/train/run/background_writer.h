#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include "journal/journal.h"
#include "rollout/rollout_writer.h"

namespace starpo {

// Writes the episodes of one set at a time in its own thread, during training. The run's thread logs finished files in
// the journal, so that events keep their order. Objects used by `write` must outlive the writer, whose destructor waits
// for its thread.
class BackgroundWriter {
 public:
  BackgroundWriter(std::filesystem::path run_directory, Journal&);

  // Starts writing a set. The previous set must have been logged.
  void start(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write);

  // Logs the set in the journal if it is complete; does not wait. Throws the errors of RolloutWriter and Journal.
  void log_if_written();

  // Waits for the set and logs it, unless it was logged already. Returns the seconds spent writing, or 0 without a set.
  double wait_and_log();

  // Like wait_and_log(), but ignores write errors so that they don't mask the error being handled.
  void log_best_effort() noexcept;

 private:
  struct Written {
    int iteration;
    std::string split;
    RolloutFiles files;
    double seconds;
  };

  void log_written();

  std::filesystem::path run_directory_;
  Journal& journal_;
  std::future<Written> writing_;  // from std::async, so its destructor waits
  double seconds_ = 0;            // of the last logged set, until wait_and_log returns it
};

}  // namespace starpo
