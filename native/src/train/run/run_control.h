#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "journal/control_reader.h"
#include "journal/journal.h"

namespace starpo {

// Thrown to abort a rollout when the run stops.
struct Aborted {};

// Handles commands to a running trainer: lines of control.jsonl and signals.
class RunControl {
 public:
  // Handles SIGTERM and SIGINT: the first signal requests a stop, the second ends the process immediately.
  RunControl(const std::filesystem::path& run_directory, Journal&);

  // Sets the iteration that events and messages report.
  void set_iteration(int iteration) { iteration_ = iteration; }

  // Handles new commands; blocks while paused. Cheap.
  void poll();
  // Like poll(), for a rollout, which a stop aborts. During a pause, `write_checkpoint` can save the state of the last
  // completed iteration. Throws Aborted.
  void poll_abortable(const std::function<void()>& write_checkpoint);

  bool stop_requested() const { return !stop_reason_.empty(); }
  const std::string& stop_reason() const { return stop_reason_; }  // command, signal
  bool checkpoint_requested() const { return checkpoint_requested_; }
  void clear_checkpoint_request() { checkpoint_requested_ = false; }
  // Acknowledges the commands that arrived after the last poll of a run that has ended.
  void finish();
  double paused_seconds() const { return paused_seconds_; }  // total time of all pauses

 private:
  void poll_and_wait(const std::function<void()>* write_checkpoint);
  void read_commands(const std::function<void()>* write_checkpoint);
  void handle_checkpoint(const ControlCommand&, const std::function<void()>* write_checkpoint);
  void handle_pin(const ControlCommand&);

  std::filesystem::path run_directory_;
  Journal& journal_;
  ControlReader reader_;
  int iteration_ = 0;
  bool paused_ = false;
  bool checkpoint_requested_ = false;
  double paused_seconds_ = 0;
  std::string stop_reason_;
};

// Measures seconds since construction, excluding pauses.
class Stopwatch {
 public:
  explicit Stopwatch(const RunControl& control) : control_(control), paused_before_(control.paused_seconds()) {}
  double seconds() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return elapsed.count() - (control_.paused_seconds() - paused_before_);
  }

 private:
  const RunControl& control_;
  double paused_before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace starpo
