#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/lt/api.h"

namespace starpo::cuda::lt {

struct Search {
  std::vector<std::string> candidates;  // as for dlopen, tried in order
  std::string places;                   // where that looks, for people
};

// STARPO_CUBLASLT names the library, or says `none`; otherwise version 13 before 12, each where the loader looks, in
// the packages that come with PyTorch, also in a Python that isn't activated in /opt, and in the toolkit's folders.
// root: what stands for /.
Search default_search(const std::filesystem::path& root = "/");

struct Library {
  Functions functions;
  std::string path;     // of the file that was loaded
  std::string version;  // as 13.0.2
};

// The first candidate that can be loaded and has every function. Without one: nothing, and why in `reason`, a part of a
// sentence. A library stays loaded until the program ends.
std::optional<Library> open_library(const Search& search, std::string& reason);

}  // namespace starpo::cuda::lt
