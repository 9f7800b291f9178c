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

// Reads commands appended to control.jsonl after this object was constructed. The file may be created later. If the
// file became shorter, reads it from the start and skips ids that it has seen.
class ControlReader {
 public:
  explicit ControlReader(const std::filesystem::path& run_directory);

  // Returns the commands in new complete lines; cheap if there are none. The caller acknowledges each command.
  // Malformed lines are rejected here.
  std::vector<ControlCommand> poll(Journal&);

 private:
  std::filesystem::path file_;
  std::int64_t offset_ = 0;
  bool truncated_ = false;
  std::set<std::string, std::less<>> seen_ids_;
};

}  // namespace starpo
