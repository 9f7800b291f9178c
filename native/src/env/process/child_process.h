#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// A shell command that exchanges lines through pipes. It runs in its own process group with few environment variables
// and no inherited files. The whole group is killed by the destructor, and also if this process dies. Not thread-safe.
class ChildProcess {
 public:
  // Longest line that is accepted. A longer one ends the process, so that its output can't fill the memory.
  static constexpr std::size_t kMaxLine = std::size_t{1} << 20;

  // Starts the command in a folder. Errors: environment_failed.
  ChildProcess(const std::string& command, const std::string& directory);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Queues a line, without blocking.
  void write_line(std::string_view line);

  // Writes and reads as much as is possible without blocking. Returns the complete lines that have arrived.
  std::vector<std::string> exchange();

  // Kills the group. `reason`: a clause such as "the process wrote more than 1 MB without a line break".
  void end(const std::string& reason);

  // Why the process has ended, with the last line of its standard error; empty while it runs.
  const std::string& failure() const { return failure_; }

  // Adds the descriptors that exchange() waits for.
  void add_to_poll(std::vector<pollfd>&) const;

 private:
  void write_queued();
  void read_output();
  void read_errors();
  void take_lines(std::vector<std::string>&);
  std::string exit_reason();
  void kill_group();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
  int lifeline_ = -1;  // the group is killed when this end of the pipe closes
  std::string queued_;
  std::string received_;
  std::size_t searched_ = 0;  // bytes of received_ without a line break
  std::string error_text_;    // end of standard error
  std::string failure_;
  bool output_ended_ = false;
};

}  // namespace starpo
