#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "journal/journal.h"

namespace starpo {

enum class Command { pause, resume, checkpoint, stop, pin, unpin };

struct ControlCommand {
  std::string id;
  Command command;
  int iteration = 0;  // args.iteration of pin and unpin
};

// Follows control.jsonl from the end that it had when this object was made; the file may appear later. Of one that was
// shortened or made anew all is read again, but for what has been heard already.
class ControlReader {
 public:
  explicit ControlReader(const std::filesystem::path& run_directory);

  // Commands whose lines are complete and new. Cheap when there are none. The caller acknowledges each; malformed lines
  // are answered here.
  std::vector<ControlCommand> poll(Journal&);

 private:
  std::filesystem::path file_;
  std::int64_t offset_ = 0;
  bool shortened_ = false;
  std::set<std::string, std::less<>> heard_;  // ids
};

}  // namespace starpo
