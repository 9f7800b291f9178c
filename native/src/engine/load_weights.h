#pragma once

#include <filesystem>

#include "engine/network.h"

namespace starpo {

// Reads a model folder's weights into a network. Errors: those of read_model_folder_weights; then the network is as it was.
void load_weights(const std::filesystem::path& folder, Network&);

}  // namespace starpo
