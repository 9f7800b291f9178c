#include "train/run/background_writer.h"

#include <chrono>

namespace starpo {

BackgroundWriter::BackgroundWriter(std::filesystem::path run_directory, Journal& journal) : run_directory_(std::move(run_directory)), journal_(journal) {}

void BackgroundWriter::begin(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write) {
  writing_ = std::async(std::launch::async, [this, iteration, split, write = std::move(write)] {
    const auto start = std::chrono::steady_clock::now();
    RolloutWriter writer(run_directory_, iteration, split);
    write(writer);
    const RolloutFiles files = writer.finish();
    return Written{iteration, split, files, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  });
}

double BackgroundWriter::tell() {
  if (!writing_.valid()) return 0;
  const Written written = writing_.get();
  journal_.rollout(written.iteration, written.split, written.files.file, written.files.index, written.files.episodes);
  return written.seconds;
}

void BackgroundWriter::tell_despite_failure() noexcept {
  try {
    tell();
  } catch (...) {
  }
}

}  // namespace starpo
