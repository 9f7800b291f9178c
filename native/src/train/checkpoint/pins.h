#pragma once

#include <filesystem>
#include <string>

namespace starpo {

inline constexpr auto kCheckpointWeightsFile = "model.safetensors";
inline constexpr auto kCheckpointStateFile = "trainer-state.safetensors";
inline constexpr auto kCheckpointPinFile = "pinned";

// Returns the path of a checkpoint relative to the run directory: checkpoints/000050.
std::string checkpoint_path(int iteration);

struct PinResult {
  bool done = false;
  std::string message;
};

// Pins or unpins a checkpoint. A pinned checkpoint keeps its optimizer state, so that a run can resume from it or fork
// it. The pin is an empty file `pinned` in its folder. Errors are reported in the result.
PinResult set_checkpoint_pinned(const std::filesystem::path& run_directory, int iteration, bool pinned);
bool is_checkpoint_pinned(const std::filesystem::path& run_directory, int iteration);

}  // namespace starpo
