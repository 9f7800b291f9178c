#pragma once

#include <filesystem>

#include "engine/network.h"

namespace starpo {

// Reads a model folder's weights into a network, in chunks. Throws the errors of read_model_folder_weights. If reading
// fails midway, the network is partially written.
void load_weights(const std::filesystem::path& folder, Network&);

// Copies the weights of `from`, which must be trained, to `to`. Both have the same layout, or `to` has a value head
// instead of a language head; then only the common tensors are copied.
void copy_weights(const Network& from, Network& to);

}  // namespace starpo
