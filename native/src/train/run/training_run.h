#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/filter.h"
#include "journal/journal.h"
#include "rollout/rollout.h"
#include "rollout/rollout_writer.h"
#include "train/run/run_control.h"
#include "train/run/storage.h"
#include "train/run/trainer_state.h"
#include "train/update/sequence.h"

namespace starpo {

// One process's part of a run: iterations from a checkpoint (or the start) to the end or a stop.
class TrainingRun {
 public:
  TrainingRun(std::filesystem::path run_directory, Journal&);

  // Loads the policy: the newest whole checkpoint's, else the initial model's. Writes the started event.
  void load(const RunConfig&);

  // Runs to the end or a stop. Returns why it stopped: completed, command, signal.
  std::string run();

  // For measurements: some iterations with replies of given lengths, without evaluations and checkpoints, whatever `iterations` says. To be called after load().
  void rehearse(int iterations, const ReplyLimit&);

  int iteration() const { return iteration_; }  // the one under way, or the last whole one

 private:
  static int first_iteration(const RunConfig&);
  std::string resume_or_begin(const RunConfig&);
  void load_initial_weights(const RunConfig&, Network&);
  void load_reference(const RunConfig&);
  void load_start(const RunConfig&, Network&);
  void train_iteration();
  void reinforce(Metrics&, Updates&, std::optional<ThoughtTemplate>&);
  std::vector<Episode> roll_out(Metrics&);
  double diagnose(std::span<const Episode>, std::span<const Sequence> kept, Metrics&);
  FilterResult filter_episodes(std::span<const Episode>, Metrics&);
  void evaluate();
  void checkpoint();
  void write_training_episodes(std::shared_ptr<const std::vector<Episode>>, const std::vector<bool>& kept_groups, std::span<const Sequence> kept);
  double tell_of_written();
  void tell_of_last_written() noexcept;
  void tell_of(const RolloutFiles&, const std::string& split);

  std::filesystem::path directory_;
  Journal& journal_;
  RunControl control_;
  std::unique_ptr<StorageBudget> budget_;
  std::unique_ptr<TrainerState> state_;
  std::unique_ptr<Generator> generator_;
  std::unique_ptr<NetworkPass> pass_;
  std::unique_ptr<NetworkPass> reference_pass_;  // null without a KL term
  std::unique_ptr<NetworkPass> start_pass_;      // null where no copy of the start is kept
  int iteration_ = 0;
  int checkpointed_ = -1;
  bool resumed_ = false;
  std::int64_t device_peak_bytes_ = 0;

  struct WrittenRollout {
    RolloutFiles files;
    double seconds;  // that writing took
  };
  // An iteration's episodes on their way to the disk, in a thread that waits for nothing of this one's and is waited for before the iteration's event: so files are whole when the
  // journal names them, and its events keep their order. The last member: it is waited for before what it reads goes.
  std::future<WrittenRollout> writing_;
};

}  // namespace starpo
