#include "train/checkpoint/pins.h"

#include <cstdio>

#include "base/error.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;

fs::path pin_of(const fs::path& run_directory, int iteration) {
  return run_directory / checkpoint_path(iteration) / checkpoint_pin_file;
}

}  // namespace

std::string checkpoint_path(int iteration) {
  char name[32];
  std::snprintf(name, sizeof name, "checkpoints/%06d", iteration);
  return name;
}

PinAnswer set_checkpoint_pinned(const fs::path& run_directory, int iteration, bool pinned) {
  const std::string name = "the checkpoint of iteration " + std::to_string(iteration);
  const fs::path folder = run_directory / checkpoint_path(iteration), pin = pin_of(run_directory, iteration);
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return {false, "there is no checkpoint of iteration " + std::to_string(iteration)};
  const bool was_pinned = fs::exists(pin, error);
  if (!pinned) {
    if (!was_pinned) return {false, name + " isn't pinned"};
    return fs::remove(pin, error) ? PinAnswer{true, name + " is kept no longer than checkpoint.keep says"}
                                  : PinAnswer{false, name + " can't be unpinned: " + error.message()};
  }
  if (was_pinned) return {false, name + " is pinned already"};
  if (!fs::exists(folder / checkpoint_state_file, error))
    return {false, name + " has lost its optimiser state already; its weights stay anyway"};
  try {
    write_file_atomically(pin, "");
  } catch (const Error& failure) {
    return {false, failure.what()};
  }
  return {true, name + " keeps its optimiser state"};
}

bool is_checkpoint_pinned(const fs::path& run_directory, int iteration) {
  std::error_code error;
  return fs::exists(pin_of(run_directory, iteration), error);
}

}  // namespace starpo
