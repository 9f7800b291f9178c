#pragma once

#include <filesystem>

#include "engine/network.h"

namespace starpo {

// Reads a model folder's weights into a network, piece by piece. Errors: those of read_model_folder_weights; one that
// only reading tells leaves the network half written.
void load_weights(const std::filesystem::path& folder, Network&);

// `to` takes over the weights of `from`, which must not be one that is only read. Both have the same layout, or `to`
// has a value head instead of a language head: then only what both have is copied.
void copy_weights(const Network& from, Network& to);

}  // namespace starpo
