#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/run_lock.h"

namespace starpo {

using Metrics = std::map<std::string, double>;               // by the names of metric_names.h
using Updates = std::map<std::string, std::vector<double>>;  // one number an optimiser step

inline double& at(Metrics& metrics, std::string_view name) { return metrics[std::string(name)]; }

// What episodes think alike.
struct ThoughtTemplate {
  std::string text;
  double share = 0;  // of the episodes
};

struct ResumedFrom {
  std::string checkpoint;  // relative path: checkpoints/000050
  int iteration = 0;
};

struct StartedEvent {
  std::optional<ResumedFrom> resume;
  int iteration =
      0;  // that the process goes on after: of the checkpoint that it resumes or that the run began from, else 0
  std::string isa;          // avx512, avx2, scalar
  std::string device;       // the one that was chosen: cpu, cuda:0
  std::string device_name;  // what its maker calls it
  int threads = 0;
  int iterations = 0;
  std::int64_t parameters = 0;
};

// events.jsonl of docs/formats/journal.md: the run's only writer, for as long as it lives. Each event is one write(2),
// with the fields that event_types.h names. Not for several threads at once. Errors of every appending member:
// disk_full, file_unwritable.
class Journal {
 public:
  // Takes the run's lock, cuts what stands after the last newline and finds the next seq. What had to be repaired is
  // said by `log` warnings right after the started event. Errors: run_missing, run_locked, file_unwritable.
  explicit Journal(const std::filesystem::path& run_directory);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void started(const StartedEvent&);             // pid, host and build are added
  void memory_plan(std::string_view plan_json);  // an object, as the engine has it
  void phase(std::string_view name, int iteration, std::int64_t done,
             std::int64_t total);  // dropped when more than four a second, unless the name is new
  void iteration(int iteration, const Metrics&, const Updates&,
                 const std::optional<ThoughtTemplate>& = std::nullopt);  // numbers that aren't finite are left out
  void evaluation(int iteration, std::string_view label, const Metrics&);
  void rollout(int iteration, std::string_view split, std::string_view file, std::string_view index, int episodes);
  void rollout_removed(int iteration, std::string_view split);  // said before the files go
  void checkpoint(int iteration, std::string_view path);
  void checkpoint_state_removed(int iteration);  // said before the files go
  void acknowledged(std::string_view command_id, bool accepted, std::string_view message);
  void paused(int iteration);
  void resumed(int iteration);
  void info(std::string_view message);                   // log
  void warning(std::string_view message);                // log
  void stopped(std::string_view reason, int iteration);  // completed, command, signal; flushes
  void failed(std::string_view code, std::string_view message, std::string_view hint, int iteration);  // flushes

  void sync();  // fdatasync
  std::int64_t next_seq() const { return next_seq_; }

 private:
  void append(std::string_view type, std::string_view fields_json);

  RunLock lock_;
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t next_seq_ = 0;
  std::vector<std::string> repairs_;
  std::string last_phase_;
  std::int64_t last_phase_time_ = 0;
};

}  // namespace starpo
