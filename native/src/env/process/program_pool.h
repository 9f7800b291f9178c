#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/late_environment.h"
#include "env/process/config.h"

namespace starpo {

struct ProgramHello {
  std::string name;
  std::vector<std::string> actions;  // empty: free text
  int episodes = 1;                  // how many the program can play at once
};

class Program;

// An episode that a program plays, with at most one request without an answer.
struct ProgramEpisode {
  enum class State { idle, queued, waiting, answered, failed };
  State state = State::idle;
  nlohmann::json request;  // the first one, without the id
  nlohmann::json answer;
  std::string failure;
  bool stepped = false;        // a step was sent
  bool isolated = false;       // needs a process without other episodes; set after a failure that they may have caused
  Program* program = nullptr;  // null before it was assigned, and after its end
  std::int64_t id = 0;
  std::chrono::steady_clock::time_point sent, deadline;
};

// Plays episodes in several processes of one program, many per process. Answers may arrive in any order. A process that
// fails is started again for the next episode. Not thread-safe.
class ProgramPool {
 public:
  explicit ProgramPool(ProcessConfig);
  ~ProgramPool();
  ProgramPool(const ProgramPool&) = delete;
  ProgramPool& operator=(const ProgramPool&) = delete;

  // Sends the first request of an episode as soon as a process has room for it. Errors: command_not_confirmed,
  // environment_failed (a process can't be started).
  void begin(ProgramEpisode&, nlohmann::json request);
  void step(ProgramEpisode&, const std::string& action);
  // Abandons a running episode. A late answer to it is ignored.
  void close(ProgramEpisode&);

  // Returns whether an episode has its answer. Errors: EnvironmentFailure.
  static bool ready(const ProgramEpisode&);
  // Blocks until a process writes something, or until the time is over, then reads answers. Errors: environment_failed
  // if the program never started, or if a process can't be started.
  void wait(std::chrono::milliseconds);

  const ProgramHello& hello() const { return hello_; }  // of the last process that started

 private:
  friend class Program;
  void update();
  void fail_queued(const std::string& reason);
  void assign_queued();
  Program* find_room(const ProgramEpisode&);

  ProcessConfig config_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<ProgramEpisode*> queued_;
  ProgramHello hello_;
  bool started_once_ = false;
  std::string start_failure_;
};

}  // namespace starpo
