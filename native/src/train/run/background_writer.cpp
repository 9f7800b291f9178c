#include "train/run/background_writer.h"

#include <chrono>
#include <utility>

namespace starpo {

BackgroundWriter::BackgroundWriter(std::filesystem::path run_directory, Journal& journal)
    : run_directory_(std::move(run_directory)), journal_(journal) {}

void BackgroundWriter::begin(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write) {
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

void BackgroundWriter::tell_if_written() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) say();
}

double BackgroundWriter::tell() {
  if (writing_.valid()) say();
  return std::exchange(seconds_, 0);
}

void BackgroundWriter::say() {
  const Written written = writing_.get();
  journal_.rollout(written.iteration, written.split, written.files.file, written.files.index, written.files.episodes);
  seconds_ = written.seconds;
}

void BackgroundWriter::tell_despite_failure() noexcept {
  try {
    tell();
  } catch (...) {}
}

}  // namespace starpo
