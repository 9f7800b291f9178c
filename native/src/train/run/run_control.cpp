#include "train/run/run_control.h"

#include <chrono>
#include <thread>

#include "base/stop_signals.h"
#include "train/checkpoint/pins.h"

namespace starpo {

RunControl::RunControl(const std::filesystem::path& run_directory, Journal& journal)
    : run_directory_(run_directory), journal_(journal), reader_(run_directory) {
  listen_for_stop_signals(SecondSignal::ends_process);
}

void RunControl::read_commands(const std::function<void()>* write_checkpoint) {
  if (stop_signalled() && stop_reason_.empty()) stop_reason_ = "signal";
  for (const ControlCommand& command : reader_.poll(journal_)) {
    switch (command.command) {
      case Command::pause:
        // What a stop leaves to be done isn't held up again.
        if (paused_ || stop_requested()) {
          journal_.acknowledged(command.id, false, paused_ ? "already paused" : "already stopping");
          break;
        }
        journal_.acknowledged(command.id, true, "pausing");
        journal_.paused(iteration_);
        paused_ = true;
        break;
      case Command::resume:
        journal_.acknowledged(command.id, paused_, paused_ ? "going on" : "not paused");
        if (paused_) journal_.resumed(iteration_);
        paused_ = false;
        break;
      case Command::checkpoint: answer_checkpoint(command, write_checkpoint); break;
      case Command::stop:
        journal_.acknowledged(command.id, true, "stopping");
        if (stop_reason_.empty()) stop_reason_ = "command";
        break;
      case Command::pin:
      case Command::unpin: answer_pin(command); break;
    }
  }
}

void RunControl::answer_checkpoint(const ControlCommand& command, const std::function<void()>* write_checkpoint) {
  if (paused_ && write_checkpoint) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(run_directory_ / checkpoint_path(iteration_ - 1), ignored);
    journal_.acknowledged(command.id, true,
                          "the checkpoint of iteration " + std::to_string(iteration_ - 1) +
                              (there ? " is there already" : " is written now"));
    (*write_checkpoint)();
    return;
  }
  journal_.acknowledged(command.id, true,
                        std::string("a checkpoint is written at the end of this iteration") +
                            (paused_ ? ", once the run is resumed" : ""));
  checkpoint_requested_ = true;
}

void RunControl::answer_pin(const ControlCommand& command) {
  const auto answer = set_checkpoint_pinned(run_directory_, command.iteration, command.command == Command::pin);
  journal_.acknowledged(command.id, answer.done, answer.message);
}

void RunControl::poll() { hold(nullptr); }

void RunControl::hold(const std::function<void()>* write_checkpoint) {
  read_commands(write_checkpoint);
  if (!paused_) return;
  const auto start = std::chrono::steady_clock::now();
  while (paused_ && !stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    read_commands(write_checkpoint);
  }
  paused_ = false;
  paused_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void RunControl::poll_discardable(const std::function<void()>& write_checkpoint) {
  hold(&write_checkpoint);
  if (stop_requested()) throw Discarded{};
}

void RunControl::finish() {
  for (const ControlCommand& command : reader_.poll(journal_)) {
    if (command.command == Command::pin || command.command == Command::unpin) {
      answer_pin(command);
      continue;
    }
    const bool done = command.command == Command::stop || command.command == Command::checkpoint;
    journal_.acknowledged(command.id, done, done ? "the run has ended, with a checkpoint" : "the run has ended");
  }
}

}  // namespace starpo
