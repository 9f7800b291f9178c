#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env/process/child_process.h"
#include "env/process/program_pool.h"

namespace starpo {

// A process of an environment's program, with the episodes that it plays.
class Program {
 public:
  // Starts the process and sends hello. Errors: environment_failed.
  explicit Program(const ProcessConfig&);

  bool greeted() const { return greeted_; }
  const ProgramHello& hello() const { return hello_; }
  int episodes() const { return static_cast<int>(episodes_.size()); }
  // How many episodes it can play at once. It shrinks when the program declines one.
  int capacity() const { return capacity_; }
  // An isolated episode needs a process without others.
  bool has_room_for(const ProgramEpisode&) const;
  // Episodes that the program has declined, because it has no room for them.
  std::vector<ProgramEpisode*> take_declined() { return std::exchange(declined_, {}); }
  // Why it has ended; empty while it runs. All of its episodes have failed then.
  const std::string& failure() const { return process_.failure(); }
  void add_to_poll(std::vector<pollfd>& descriptors) const { process_.add_to_poll(descriptors); }
  std::chrono::steady_clock::time_point next_deadline() const;

  void add(ProgramEpisode&);
  void send(ProgramEpisode&, nlohmann::json request);
  void remove(ProgramEpisode&);

  // Reads answers, then checks the time limits.
  void update();

 private:
  void read_line(const std::string& line);
  void read_hello(const nlohmann::json& message);
  void read_answer(nlohmann::json message);
  void check_deadlines();
  void decline(ProgramEpisode&);
  void fail(ProgramEpisode&, const std::string& reason, bool is_shared = false);
  void fail_all();

  const ProcessConfig& config_;
  ChildProcess process_;
  ProgramHello hello_;
  bool greeted_ = false;
  int capacity_ = 0;
  std::vector<ProgramEpisode*> declined_;
  std::map<std::int64_t, ProgramEpisode*> episodes_;
  std::int64_t next_id_ = 1;
  std::chrono::steady_clock::time_point start_deadline_, last_line_;
};

}  // namespace starpo
