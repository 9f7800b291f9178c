#pragma once

#include <filesystem>
#include <future>
#include <memory>

#include "train/checkpoint/checkpoint.h"

namespace starpo {

// Writes the checkpoints of a run. If its networks are on a device and enough host memory is free, start() copies their
// state to page-locked memory, and a thread writes the files while training continues. Otherwise start() writes and
// publishes the checkpoint. The parts must outlive the writer, whose destructor waits for the thread.
class CheckpointWriter {
 public:
  CheckpointWriter(std::filesystem::path run_directory, Journal&);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Starts a checkpoint, after publishing the previous one. Errors: those of write_checkpoint.
  void start(const CheckpointParts&, int iteration);

  // Publishes the checkpoint if its files are complete; does not wait. Throws the errors of write_checkpoint, also
  // those of the thread.
  void publish_if_written();

  // Waits for the files of the checkpoint and publishes it, unless that was done already.
  void publish();

  // Like publish(), but ignores errors so that they don't mask the error being handled.
  void publish_best_effort() noexcept;

 private:
  struct Content;

  bool copy_to_host(Engine&, Content&);

  std::filesystem::path run_directory_;
  Journal& journal_;
  std::unique_ptr<HostMemory> memory_;  // for copies, kept because locking pages takes seconds
  bool lacks_memory_ = false;
  std::unique_ptr<Content> content_;  // checkpoint that isn't published yet
  std::future<void> writing_;         // from std::async, so its destructor waits
};

}  // namespace starpo
