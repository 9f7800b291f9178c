#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/first_step_check.h"
#include "journal/run_lock.h"

namespace starpo {

using Metrics = std::map<std::string, double>;               // keys: names in metric_names.h
using Updates = std::map<std::string, std::vector<double>>;  // one number per optimizer step

inline double& at(Metrics& metrics, std::string_view name) { return metrics[std::string(name)]; }

// The most common first reasoning of a rollout.
struct ReasoningTemplate {
  std::string text;
  double share = 0;  // share of episodes
};

struct ResumedFrom {
  std::string checkpoint;  // relative path: checkpoints/000050
  int iteration = 0;
};

struct StartedEvent {
  std::optional<ResumedFrom> resume;
  // Last completed iteration: of the checkpoint to resume or to fork from, else 0.
  int iteration = 0;
  std::string isa;          // of the CPU, such as avx512 or amx_bf16, or of the GPU, such as sm_90
  std::string device;       // cpu, cuda:0
  std::string device_name;  // vendor's name
  std::string device_uuid;  // of a GPU; empty: unknown
  int threads = 0;
  int iterations = 0;
  std::int64_t parameters = 0;
};

// Writes events.jsonl (docs/formats/journal.md) and holds the run's lock. Each event is one write(2) with the fields in
// event_types.h. Not thread-safe. All methods that append may throw disk_full and file_unwritable.
class Journal {
 public:
  // Acquires the run's lock, removes a truncated last line and finds the next seq. Repairs are logged as warnings right
  // after the started event. Errors: those of RunLock and read_journal_tail.
  explicit Journal(const std::filesystem::path& run_directory);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Logs the event with pid, host and build added.
  void started(const StartedEvent&);
  void memory_plan(std::string_view plan_json);
  // Limits events to four per second, unless the name changed.
  void phase(std::string_view name, int iteration, std::int64_t done, std::int64_t total);
  // Omits non-finite numbers, as does evaluation().
  void iteration(int iteration, const Metrics&, const Updates&, const std::optional<ReasoningTemplate>& = std::nullopt);
  void first_step_check(int iteration, const std::vector<FirstStepCheck>&);
  void evaluation(int iteration, std::string_view label, const Metrics&, std::string_view panel);
  void rollout(int iteration, std::string_view split, std::string_view file, std::string_view index, int episodes);
  void rollout_removed(int iteration, std::string_view split);  // call before deleting the files
  void checkpoint(int iteration, std::string_view path);
  void checkpoint_state_removed(int iteration);  // call before deleting the file
  void acknowledged(std::string_view command_id, bool accepted, std::string_view message);
  void paused(int iteration);
  void resumed(int iteration);
  void environment_alert(int iteration, std::string_view environment, int voided, int episodes,
                         std::string_view message);
  void info(std::string_view message);     // log
  void warning(std::string_view message);  // log
  // Flushes.
  void stopped(std::string_view reason, int iteration, std::string_view message = "");
  void failed(std::string_view code, std::string_view message, std::string_view hint, int iteration);  // flushes

  void sync();  // fdatasync
  std::int64_t next_seq() const { return next_seq_; }

 private:
  void append(std::string_view type, std::string_view fields_json);

  RunLock lock_;
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  bool syncs_ = false;          // on a file system whose other clients see writes only after a sync
  std::int64_t last_sync_ = 0;  // ms since the epoch
  std::int64_t next_seq_ = 0;
  std::vector<std::string> repairs_;
  std::string last_phase_;
  std::int64_t last_phase_time_ = 0;
};

}  // namespace starpo
