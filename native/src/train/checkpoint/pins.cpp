#include "train/checkpoint/pins.h"

#include <cstdio>

#include "base/error.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;

fs::path pin_of(const fs::path& run_directory, int iteration) {
  return run_directory / checkpoint_path(iteration) / kCheckpointPinFile;
}

}  // namespace

std::string checkpoint_path(int iteration) {
  char name[32];
  std::snprintf(name, sizeof name, "checkpoints/%06d", iteration);
  return name;
}

PinResult set_checkpoint_pinned(const fs::path& run_directory, int iteration, bool pinned) {
  const std::string name = "the checkpoint of iteration " + std::to_string(iteration);
  const fs::path folder = run_directory / checkpoint_path(iteration), pin = pin_of(run_directory, iteration);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {false, name + " was not found"};
  const bool was_pinned = fs::exists(pin, error);
  if (!pinned) {
    if (!was_pinned) return {false, name + " is not pinned"};
    return fs::remove(pin, error) ? PinResult{true, name + " is unpinned"}
                                  : PinResult{false, "failed to unpin " + name + ": " + error.message()};
  }
  if (was_pinned) return {false, name + " is already pinned"};
  if (!fs::exists(folder / kCheckpointStateFile, error)) return {false, name + " has no optimizer state to keep"};
  try {
    write_file_atomically(pin, "");
  } catch (const Error& failure) {
    return {false, failure.what()};
  }
  return {true, name + " is pinned and keeps its optimizer state"};
}

bool is_checkpoint_pinned(const fs::path& run_directory, int iteration) {
  std::error_code error;
  return fs::exists(pin_of(run_directory, iteration), error);
}

}  // namespace starpo
