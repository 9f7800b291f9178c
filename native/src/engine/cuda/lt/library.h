#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/lt/api.h"

namespace starpo::cuda::lt {

struct Search {
  std::vector<std::string> candidates;  // names for dlopen, in order
  std::string places;                   // description of the search paths
};

// Returns the search paths. STARPO_CUBLASLT contains the path of the library, or `none`. Otherwise the search covers
// version 13, then 12: the loader's paths, PyTorch's packages (also of Pythons in /opt), and the toolkit's folders.
// root replaces / in tests.
Search default_search(const std::filesystem::path& root = "/");

struct Library {
  Functions functions;
  std::string path;     // path of the loaded file
  std::string version;  // such as 13.0.2
};

// Opens the first candidate that loads and has every function. If there is none, returns nothing and sets `reason` to a
// clause. The library stays loaded until the process exits.
std::optional<Library> open_library(const Search& search, std::string& reason);

}  // namespace starpo::cuda::lt
