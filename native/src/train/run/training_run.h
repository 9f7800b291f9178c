#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/filter.h"
#include "journal/journal.h"
#include "rollout/rollout.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/context/trainer_state.h"
#include "train/run/background_writer.h"
#include "train/run/early_stop.h"
#include "train/run/run_control.h"
#include "train/run/storage.h"
#include "train/update/estimate_advantages.h"
#include "train/update/replay_buffer.h"
#include "train/update/sequence.h"

namespace starpo {

// How a run ended; fields of the stopped event.
struct RunEnd {
  std::string reason;
  std::string message;  // the rule of an early stop, else empty
};

// Executes the part of a run that runs in this process: from the start or a checkpoint to the end or a stop.
class TrainingRun {
 public:
  TrainingRun(std::filesystem::path run_directory, Journal&);

  // Loads the newest valid checkpoint, else the initial model. Writes the started event.
  void load(const RunConfig&);

  // Trains to the end or a stop.
  RunEnd run();

  // For benchmarks: runs iterations with fixed response lengths, without evaluations and checkpoints. Ignores the
  // `iterations` setting. Call after load().
  void rehearse(int iterations, const ResponseLimit&);

  int iteration() const { return iteration_; }  // the current iteration, or the last completed one

 private:
  std::string resume_or_begin(const RunConfig&);
  void refuse_to_start_over(const RunConfig&);
  void load_initial_weights(const RunConfig&, Network&);
  void load_reference(const RunConfig&, Network& reference);
  void load_start(const RunConfig&, Network&);
  void load_start_if_available(const RunConfig&, Replica&);
  RunEnd run_iterations();
  bool stops() const;
  void train_iteration();
  struct Iteration {
    Metrics metrics;
    Updates updates;
    std::optional<ReasoningTemplate> reasoning;
    std::vector<FirstStepCheck> first_step;  // empty unless due
  };
  Iteration reinforce();
  bool first_step_due() const;
  // Void episodes are only written, so that they can be inspected.
  std::vector<Episode> roll_out(Metrics&, std::vector<Episode>& voids);
  double diagnose(std::span<const Episode>, std::span<const Sequence> kept, Metrics&);
  std::vector<Episode> take_void_episodes(std::vector<Episode>&, const std::string& place);
  std::vector<bool> filter_episodes(std::span<const Episode>, Metrics&);
  RoundGroups choose_groups(std::span<const ScoredGroup>) const;
  ReplayedGroups draw_replay(std::span<const Episode>, const std::vector<bool>& kept_groups);
  bool evaluation_due() const;
  bool is_evaluated() const;
  void evaluate();
  void checkpoint();
  void start_checkpoint(int iteration);
  void write_training_episodes(std::shared_ptr<const std::vector<Episode>>,
                               std::shared_ptr<const std::vector<Episode>> voids, std::span<const Sequence> kept);

  std::filesystem::path directory_;
  Journal& journal_;
  RunControl control_;
  std::unique_ptr<StorageBudget> budget_;
  std::unique_ptr<TrainerState> state_;
  ReplayBuffer replay_;
  std::optional<EarlyStop> early_stop_;
  int iteration_ = 0;
  int weights_iteration_ = 0;  // of the policy's weights
  int checkpointed_ = -1;
  bool resumed_ = false;
  std::int64_t device_peak_bytes_ = 0;
  bool warned_of_refused_products_ = false;
  // The last members: their destructors wait for threads that read the others.
  CheckpointWriter checkpoints_;
  BackgroundWriter writer_;
};

}  // namespace starpo
