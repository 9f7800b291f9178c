#include <algorithm>

#include "base/error.h"
#include "engine/load_weights.h"
#include "journal/journal_tail.h"
#include "model/folder.h"
#include "train/checkpoint/checkpoint.h"
#include "train/replica/dry_step.h"
#include "train/run/training_run.h"

// Loads a run: the newest valid checkpoint, or the initial weights.
namespace starpo {

void TrainingRun::load(const RunConfig& config) {
  remove_partial_files(directory_);
  const std::string skipped = resume_or_begin(config);
  Replica& replica = state_->replica;
  early_stop_.emplace(config);
  if (resumed_) early_stop_->restore(directory_ / "events.jsonl", iteration_);

  StartedEvent started;
  if (resumed_) started.resume = ResumedFrom{checkpoint_path(iteration_), iteration_};
  started.iteration = iteration_;
  started.isa = replica.engine->instructions();
  started.device = replica.engine->device();
  started.device_name = replica.engine->device_name();
  started.device_uuid = replica.engine->device_uuid();
  started.threads = state_->threads.size();
  started.iterations = config.iterations;
  started.parameters = static_cast<std::int64_t>(replica.policy->layout().size());
  journal_.started(started);
  journal_.memory_plan(memory_plan_json(replica.memory_plan));
  const bool does_dry_step = replica.engine->preallocates();
  if (!does_dry_step) journal_.phase("load", iteration_, 1, 1);
  if (!skipped.empty()) journal_.warning(skipped);
  for (const auto& warning : run_config_warnings(config)) journal_.warning(warning);
  if (const auto warning = replica.engine->warning()) journal_.warning(*warning);

  budget_ = std::make_unique<StorageBudget>(directory_, config.storage, journal_);
  if (replica.reference) load_reference(config, *replica.reference);
  if (replica.start) load_start_if_available(config, replica);
  if (does_dry_step)
    dry_step(config, replica, state_->playground.chat.stop_ids(),
             [&](int done, int total) { journal_.phase("load", iteration_, done, total); });
}

// Returns a warning about checkpoints that were skipped, or "".
std::string TrainingRun::resume_or_begin(const RunConfig& config) {
  const auto checkpoints = resumable_checkpoints(directory_);
  if (checkpoints.empty()) refuse_to_start_over(config);
  std::string skipped;
  for (int iteration : checkpoints) {
    std::int64_t event = 0;
    try {
      state_.reset();  // free its device memory first
      state_ = std::make_unique<TrainerState>(config, directory_ / checkpoint_path(iteration));
      event = load_checkpoint(directory_, iteration, config.seed, state_->replica,
                              config.replay.is_active() ? &replay_ : nullptr);
    } catch (const Error& error) {
      if (is_unrelated_to_checkpoint(error.code())) throw;
      const bool is_named = error.code() == "checkpoint_corrupt";
      skipped += (skipped.empty() ? "" : "; ") + (is_named ? "" : checkpoint_path(iteration) + " can't be read: ") +
                 error.what();
      continue;
    }
    // A trainer that was killed right after writing the checkpoint could not log it or remove old states.
    if (journal_.next_seq() == event) journal_.checkpoint(iteration, checkpoint_path(iteration));
    remove_old_states(directory_, iteration, config.checkpoint.keep, journal_);
    iteration_ = checkpointed_ = iteration;
    resumed_ = true;
    if (const auto with_weights = checkpoints_with_weights(directory_); with_weights.front() > checkpoints.front())
      skipped += std::string(skipped.empty() ? "" : "; ") + "checkpoint " + std::to_string(with_weights.front()) +
                 " has no optimizer state, so training resumes from checkpoint " + std::to_string(iteration);
    return skipped;
  }
  if (!checkpoints.empty())
    throw Error("checkpoint_corrupt", "no checkpoint of this run can be read: " + skipped,
                "start a new run from the configuration in run.json");

  state_ = std::make_unique<TrainerState>(config, config.start.model);
  Replica& replica = state_->replica;
  load_initial_weights(config, *replica.policy);
  if (replica.critic) replica.critic->initialize_from(*replica.policy);
  if (config.start.keep_optimizer) load_start_state(config.start.model, config.start.checkpoint, replica);
  iteration_ = first_iteration(config);
  return {};
}

// Refuses to start a run again from the beginning, which would replace its metrics and checkpoints. A run that was
// killed during its first iteration loses nothing.
void TrainingRun::refuse_to_start_over(const RunConfig& config) {
  const auto with_weights = checkpoints_with_weights(directory_);
  const int newest = with_weights.empty() ? 0 : with_weights.front();
  const int trained = std::max(last_complete_iteration(directory_ / "events.jsonl"), newest);
  if (trained <= first_iteration(config)) return;
  iteration_ = trained;  // reported with the failure
  throw Error("run_not_resumable",
              "the run can't be resumed after iteration " + std::to_string(trained) + ", because " +
                  (with_weights.empty() ? "it has no checkpoint with weights or optimizer state"
                                        : "none of its checkpoints has an optimizer state"),
              with_weights.empty() ? "start a new run with the same configuration"
                                   : "fork from checkpoint " + std::to_string(newest) +
                                         " with a new optimizer, or start a new run with the same configuration");
}

void TrainingRun::load_initial_weights(const RunConfig& config, Network& network) {
  const std::filesystem::path folder = config.start.model;
  if (config.start.weights == StartWeights::random) {
    write_initial_weights(
        network.layout(), config.seed, state_->threads,
        [&](std::size_t first, std::span<const float> values) { network.write_weights(first, values); });
  } else {
    load_weights(folder, network);
    if (!config.start.sha256.empty() && model_folder_digest(folder) != config.start.sha256)
      throw Error("model_changed",
                  "start.model has changed since this run was created: its sha256 differs from start.sha256",
                  "restore the model folder or create a new run");
  }
}

void TrainingRun::load_reference(const RunConfig& config, Network& reference) {
  const std::filesystem::path folder = config.kl.reference;
  if (folder.empty()) return load_start(config, reference);
  check_reference(config, reference.layout().config());
  load_weights(folder, reference);
}

// Loads the start weights. A resumed run reads them from its first checkpoint, since the model folder may be gone.
void TrainingRun::load_start(const RunConfig& config, Network& network) {
  if (!resumed_) return copy_weights(*state_->replica.policy, network);
  const std::filesystem::path start =
      directory_ / checkpoint_path(first_iteration(config));  // its weights may have been deleted to save space
  std::error_code missing;
  if (std::filesystem::exists(start / kCheckpointWeightsFile, missing))
    load_weights(start, network);
  else
    load_initial_weights(config, network);
}

// The start weights only serve to measure drift, so a run without them continues with a warning.
void TrainingRun::load_start_if_available(const RunConfig& config, Replica& replica) {
  try {
    load_start(config, *replica.start);
  } catch (const Error& error) {
    if (is_unrelated_to_checkpoint(error.code())) throw;
    replica.start_pass.reset();
    replica.start.reset();
    journal_.warning(
        std::string("the start weights of the run can't be read, so diagnostics/kl_from_start is not measured: ") +
        error.what());
  }
}

}  // namespace starpo
