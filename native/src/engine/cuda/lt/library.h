#pragma once

#include <filesystem>
#include <functional>
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

  std::string name() const { return "cuBLASLt " + version + " (" + path + ")"; }
};

// Returns an empty string if a library works, otherwise a clause that describes its defect.
using TestLibrary = std::function<std::string(const Library&)>;

// Opens the first candidate that loads, has every function and passes the test. If there is none, returns nothing and
// sets `reason` to clauses about each candidate that loaded. Libraries stay loaded until the process exits.
std::optional<Library> open_library(const Search& search, std::string& reason, const TestLibrary& test = {});

}  // namespace starpo::cuda::lt
