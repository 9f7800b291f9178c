#pragma once

#include <filesystem>
#include <vector>

namespace starpo {

// What lies in a folder, in no order; what can't be read, or is gone meanwhile, is left out. A std::filesystem::directory_iterator in a range-based loop
// throws where it meets that after its beginning.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

}  // namespace starpo
