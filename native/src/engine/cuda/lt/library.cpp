#include "engine/cuda/lt/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>

namespace starpo::cuda::lt {
namespace {

constexpr const char* kOverride = "STARPO_CUBLASLT";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// Returns the folders in `parent` with this prefix, newest version first: longest name first, then in descending order.
std::vector<std::filesystem::path> folders_with_prefix(const std::filesystem::path& parent, const std::string& prefix) {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix)) folders.push_back(entry->path());
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    const std::string first = a.string(), second = b.string();
    return first.size() != second.size() ? first.size() > second.size() : first > second;
  });
  return folders;
}

// Returns the site-packages folders that may contain PyTorch, for the active environment, the user, the system, and
// Pythons in /opt or its subfolders.
std::vector<std::filesystem::path> python_package_folders(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> prefixes;
  const std::string home = environment("HOME");
  for (const std::string& prefix :
       {environment("VIRTUAL_ENV"), environment("CONDA_PREFIX"), home.empty() ? home : home + "/.local"})
    if (!prefix.empty()) prefixes.emplace_back(prefix);
  prefixes.push_back(root / "usr/local");
  prefixes.push_back(root / "usr");
  for (const auto& folder : folders_with_prefix(root / "opt", "")) {
    prefixes.push_back(folder);
    for (const auto& inner : folders_with_prefix(folder, "")) prefixes.push_back(inner);
  }
  std::vector<std::filesystem::path> folders;
  for (const auto& prefix : prefixes)
    for (const auto& python : folders_with_prefix(prefix / "lib", "python3"))
      for (const char* const packages : {"site-packages", "dist-packages"}) folders.push_back(python / packages);
  return folders;
}

std::string version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

template <class Function>
bool resolve(void* library, const char* name, Function*& function, std::string& missing) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (!function) missing = name;
  return function != nullptr;
}

bool resolve_all(void* library, Functions& f, std::string& missing) {
  return resolve(library, "cublasLtGetVersion", f.version, missing) &&
         resolve(library, "cublasLtCreate", f.create, missing) &&
         resolve(library, "cublasLtDestroy", f.destroy, missing) &&
         resolve(library, "cublasLtMatmulDescCreate", f.create_operation, missing) &&
         resolve(library, "cublasLtMatmulDescDestroy", f.destroy_operation, missing) &&
         resolve(library, "cublasLtMatmulDescSetAttribute", f.set_operation, missing) &&
         resolve(library, "cublasLtMatrixLayoutCreate", f.create_layout, missing) &&
         resolve(library, "cublasLtMatrixLayoutDestroy", f.destroy_layout, missing) &&
         resolve(library, "cublasLtMatmulPreferenceCreate", f.create_preference, missing) &&
         resolve(library, "cublasLtMatmulPreferenceDestroy", f.destroy_preference, missing) &&
         resolve(library, "cublasLtMatmulPreferenceSetAttribute", f.set_preference, missing) &&
         resolve(library, "cublasLtMatmulAlgoGetHeuristic", f.find_algorithms, missing) &&
         resolve(library, "cublasLtMatmul", f.multiply, missing);
}

}  // namespace

Search default_search(const std::filesystem::path& root) {
  if (const std::string requested = environment(kOverride); requested == "none")
    return {{}, std::string(kOverride) + " is none"};
  else if (!requested.empty())
    return {{requested}, std::string(kOverride) + " names " + requested};
  Search search{{}, "the loader's path, Python's nvidia packages, also in /opt, and /usr/local/cuda*"};
  const auto python = python_package_folders(root);
  const auto toolkits = folders_with_prefix(root / "usr/local", "cuda");
  for (const char* const version : {"13", "12"}) {
    const std::string name = std::string("libcublasLt.so.") + version;
    search.candidates.push_back(name);
    std::vector<std::filesystem::path> folders;
    for (const auto& packages : python)
      for (const std::string& folder : {std::string("cu") + version, std::string("cublas")})
        folders.push_back(packages / "nvidia" / folder / "lib");
    for (const auto& toolkit : toolkits) folders.push_back(toolkit / "lib64");
    std::error_code error;
    for (const auto& folder : folders)
      if (std::filesystem::exists(folder / name, error)) search.candidates.push_back((folder / name).string());
  }
  return search;
}

std::optional<Library> open_library(const Search& search, std::string& reason, const TestLibrary& test) {
  std::vector<std::string> defects;
  std::set<std::string> opened;  // several candidates may lead to one file
  std::string not_found = "cuBLASLt was not found (" + search.places + ")";
  for (const std::string& candidate : search.candidates) {
    // RTLD_LOCAL hides its symbols from other libraries.
    void* const handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      // A single candidate was chosen by the user, so report its error.
      if (const char* const error = dlerror(); error && search.candidates.size() == 1)
        not_found = "cuBLASLt could not be loaded (" + search.places + "): " + error;
      continue;
    }
    Library library;
    std::string missing;
    if (!resolve_all(handle, library.functions, missing)) {
      defects.push_back("the cuBLASLt in " + candidate + " has no function " + missing);
      continue;
    }
    Dl_info info{};
    library.path = dladdr(reinterpret_cast<void*>(library.functions.multiply), &info) && info.dli_fname ? info.dli_fname
                                                                                                        : candidate;
    library.version = version_text(library.functions.version());
    if (!opened.insert(library.path).second) continue;
    const std::string defect = test ? test(library) : "";
    if (defect.empty()) return library;
    defects.push_back(library.name() + " failed its self-test: " + defect);
  }
  reason.clear();
  for (const std::string& defect : defects) reason += (reason.empty() ? "" : "; ") + defect;
  if (defects.empty()) reason = not_found;
  return std::nullopt;
}

}  // namespace starpo::cuda::lt
