#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "journal/control_reader.h"
#include "journal/journal.h"

namespace starpo {

// Thrown out of a rollout that a stop discards.
struct Discarded {};

// What a person may ask of a living trainer: lines of control.jsonl and signals.
class RunControl {
 public:
  // Listens for SIGTERM and SIGINT: the first asks to stop, the second ends the process at once.
  RunControl(const std::filesystem::path& run_directory, Journal&);

  void at_iteration(int iteration) { iteration_ = iteration; }

  // Reads new commands; holds while paused. Cheap.
  void poll();
  // The same where a stop gives the work up, since nothing has changed since the last whole iteration: what a pause
  // holds there, `write_checkpoint` can save at once. Throws Discarded.
  void poll_discardable(const std::function<void()>& write_checkpoint);

  bool stop_requested() const { return !stop_reason_.empty(); }
  const std::string& stop_reason() const { return stop_reason_; }  // command, signal
  bool checkpoint_requested() const { return checkpoint_requested_; }
  void checkpoint_served() { checkpoint_requested_ = false; }
  // Answers the commands that came after the last poll of a run that is over.
  void finish();
  double paused_seconds() const { return paused_seconds_; }  // held so far, all pauses together

 private:
  void hold(const std::function<void()>* write_checkpoint);
  void read_commands(const std::function<void()>* write_checkpoint);
  void answer_checkpoint(const ControlCommand&, const std::function<void()>* write_checkpoint);
  void answer_pin(const ControlCommand&);

  std::filesystem::path run_directory_;
  Journal& journal_;
  ControlReader reader_;
  int iteration_ = 0;
  bool paused_ = false;
  bool checkpoint_requested_ = false;
  double paused_seconds_ = 0;
  std::string stop_reason_;
};

// Seconds of work since it was made: those held by a pause don't count.
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
