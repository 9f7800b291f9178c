#include "train/run/background_writer.h"

#include <chrono>
#include <utility>

namespace starpo {

BackgroundWriter::BackgroundWriter(std::filesystem::path run_directory, Journal& journal)
    : run_directory_(std::move(run_directory)), journal_(journal) {}

void BackgroundWriter::start(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write) {
  seconds_ = 0;
  writing_ = std::async(std::launch::async, [this, iteration, split, write = std::move(write)] {
    const auto start = std::chrono::steady_clock::now();
    RolloutWriter writer(run_directory_, iteration, split);
    write(writer);
    const RolloutFiles files = writer.finish();
    return Written{iteration, split, files,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  });
}

void BackgroundWriter::log_if_written() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) log_written();
}

double BackgroundWriter::wait_and_log() {
  if (writing_.valid()) log_written();
  return std::exchange(seconds_, 0);
}

void BackgroundWriter::log_written() {
  const Written written = writing_.get();
  journal_.rollout(written.iteration, written.split, written.files.file, written.files.index, written.files.episodes);
  seconds_ = written.seconds;
}

void BackgroundWriter::log_best_effort() noexcept {
  try {
    wait_and_log();
  } catch (...) {}
}

}  // namespace starpo
