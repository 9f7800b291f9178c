#include "train/evaluation/evaluation_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "files/descriptor.h"
#include "files/reading.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameLength = 64;

fs::path evaluations_folder(const fs::path& run_directory) { return run_directory / "evaluations"; }

// Holds an flock on a folder while writing its files. The kernel releases it when the process exits.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) {
    std::error_code ignored;  // opening the folder reports the error
    fs::create_directory(folder, ignored);
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0) throw write_error(folder, errno);
    int error = 0;
    do error = ::flock(descriptor_, LOCK_EX) == 0 ? 0 : errno;
    while (error == EINTR);
    if (error == 0) return;
    ::close(descriptor_);
    throw lock_error(folder, error);
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Removes episode files, indexes and panels without a result, left by a killed process. The caller must hold the lock.
void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const auto& entry : folder_entries(folder)) {
    const std::string file = entry.filename().string();
    const auto stem = file.substr(0, file.find('.', 1));
    const bool partial = file.starts_with(".") && file.ends_with(".partial");
    const bool part = file == stem + ".jsonl.zst" || file == stem + ".index.json" || file == stem + ".panel.json";
    const bool orphan = part && !fs::exists(folder / (stem + ".json"), ignored);
    if (partial || orphan) leftovers.push_back(entry);
  }
  for (const auto& path : leftovers) fs::remove(path, ignored);
}

}  // namespace

void check_evaluation_name(const fs::path& run_directory, const std::string& name) {
  const bool valid = !name.empty() && name.size() <= kMaxNameLength &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!valid)
    throw Error("evaluation_name_invalid", "\"" + name + "\" is not a valid evaluation name",
                "use 1 to 64 characters of a-z, 0-9 and -");
  std::error_code ignored;
  if (fs::exists(evaluations_folder(run_directory) / (name + ".json"), ignored))
    throw Error("evaluation_exists", "the run already has an evaluation " + name, "choose another name with --name");
}

std::string write_evaluation_files(const fs::path& run_directory, const std::string& name,
                                   const std::string& result_json, const std::string& panel_json, int iteration,
                                   const std::string& split, const std::function<void(RolloutWriter&)>& add_episodes) {
  const fs::path folder = evaluations_folder(run_directory);
  const FolderLock lock(folder);
  check_evaluation_name(run_directory, name);
  remove_leftovers(folder);
  try {
    RolloutWriter writer(run_directory, "evaluations/" + name, iteration, split);
    add_episodes(writer);
    const RolloutFiles files = writer.finish();
    write_file_atomically(folder / (name + ".panel.json"), panel_json);
    Json result = Json::parse(result_json);
    result.update(Json{{"file", files.file}, {"index", files.index}, {"episodes", files.episodes}});
    const std::string text = result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file_atomically(folder / (name + ".json"), text);
    return text;
  } catch (const Error&) {
    remove_leftovers(folder);
    throw;
  }
}

}  // namespace starpo
