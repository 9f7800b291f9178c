#include "train/run/run_control.h"

#include <thread>

#include "base/stop_signals.h"
#include "train/checkpoint/pins.h"

namespace starpo {

RunControl::RunControl(const std::filesystem::path& run_directory, Journal& journal)
    : run_directory_(run_directory), journal_(journal), reader_(run_directory) {
  install_stop_handlers(SecondSignal::exits_process);
}

void RunControl::read_commands(const std::function<void()>* write_checkpoint) {
  if (stop_signal_received() && stop_reason_.empty()) stop_reason_ = "signal";
  for (const ControlCommand& command : reader_.poll(journal_)) {
    switch (command.command) {
      case Command::pause:
        // Don't pause the work that remains after a stop.
        if (paused_ || stop_requested()) {
          journal_.acknowledged(command.id, false, paused_ ? "already paused" : "already stopping");
          break;
        }
        journal_.acknowledged(command.id, true, "pausing");
        journal_.paused(iteration_);
        paused_ = true;
        break;
      case Command::resume:
        journal_.acknowledged(command.id, paused_, paused_ ? "resuming" : "not paused");
        if (paused_) journal_.resumed(iteration_);
        paused_ = false;
        break;
      case Command::checkpoint: handle_checkpoint(command, write_checkpoint); break;
      case Command::stop:
        journal_.acknowledged(command.id, true, "stopping");
        if (stop_reason_.empty()) stop_reason_ = "command";
        break;
      case Command::pin:
      case Command::unpin: handle_pin(command); break;
    }
  }
}

void RunControl::handle_checkpoint(const ControlCommand& command, const std::function<void()>* write_checkpoint) {
  if (paused_ && write_checkpoint) {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(run_directory_ / checkpoint_path(iteration_ - 1), ignored);
    journal_.acknowledged(command.id, true,
                          "the checkpoint of iteration " + std::to_string(iteration_ - 1) +
                              (exists ? " already exists" : " is being written"));
    (*write_checkpoint)();
    return;
  }
  journal_.acknowledged(command.id, true,
                        std::string("a checkpoint will be written at the end of this iteration") +
                            (paused_ ? ", after the run is resumed" : ""));
  checkpoint_requested_ = true;
}

void RunControl::handle_pin(const ControlCommand& command) {
  const auto result = set_checkpoint_pinned(run_directory_, command.iteration, command.command == Command::pin);
  journal_.acknowledged(command.id, result.done, result.message);
}

void RunControl::poll() { poll_and_wait(nullptr); }

void RunControl::poll_and_wait(const std::function<void()>* write_checkpoint) {
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

void RunControl::poll_abortable(const std::function<void()>& write_checkpoint) {
  poll_and_wait(&write_checkpoint);
  if (stop_requested()) throw Aborted{};
}

void RunControl::finish() {
  for (const ControlCommand& command : reader_.poll(journal_)) {
    if (command.command == Command::pin || command.command == Command::unpin) {
      handle_pin(command);
      continue;
    }
    const bool done = command.command == Command::stop || command.command == Command::checkpoint;
    journal_.acknowledged(command.id, done, done ? "the run has ended with a checkpoint" : "the run has ended");
  }
}

}  // namespace starpo
