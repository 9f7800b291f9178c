#include "engine/load_weights.h"

#include "model/folder.h"

namespace starpo {

void load_weights(const std::filesystem::path& folder, Network& network) { network.parameters().write(StateVector::weights, read_model_folder_weights(folder, network.layout())); }

}  // namespace starpo
