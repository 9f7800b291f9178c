#pragma once

#include <filesystem>
#include <string>

namespace starpo {

inline constexpr auto checkpoint_state_file = "trainer-state.safetensors";
inline constexpr auto checkpoint_pin_file = "pinned";

// Relative to the run directory: checkpoints/000050.
std::string checkpoint_path(int iteration);

struct PinAnswer {
  bool done = false;
  std::string message;
};

// A pinned checkpoint keeps its optimiser state until it is unpinned, so that a run can go on from it: an empty file
// `pinned` in its folder says so. Refuses what can't be, in the answer.
PinAnswer set_checkpoint_pinned(const std::filesystem::path& run_directory, int iteration, bool pinned);
bool is_checkpoint_pinned(const std::filesystem::path& run_directory, int iteration);

}  // namespace starpo
