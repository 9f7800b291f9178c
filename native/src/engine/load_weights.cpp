#include "engine/load_weights.h"

#include <algorithm>

#include "model/folder.h"

namespace starpo {

void load_weights(const std::filesystem::path& folder, Network& network) {
  read_model_folder_weights(folder, network.layout(), [&](std::size_t first, std::span<const float> values) {
    network.write_weights(first, values);
  });
}

void copy_weights(const Network& from, Network& to) {
  const auto& source_tensors = from.layout().tensors();
  for (const TensorSlot& tensor : to.layout().tensors()) {
    const auto source = std::ranges::find(source_tensors, tensor.name, &TensorSlot::name);
    if (source == source_tensors.end()) continue;
    copy_in_chunks(
        0, tensor.size,
        [&](std::size_t first, std::span<float> values) { from.read_weights(source->offset + first, values); },
        [&](std::size_t first, std::span<const float> values) { to.write_weights(tensor.offset + first, values); });
  }
}

}  // namespace starpo
