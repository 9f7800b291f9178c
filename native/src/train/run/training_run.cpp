#include "train/run/training_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "algorithm/statistics.h"
#include "base/error.h"
#include "journal/journal_tail.h"
#include "journal/metric_names.h"
#include "rollout/episode_json.h"
#include "train/checkpoint/checkpoint.h"
#include "train/context/levels.h"
#include "train/diagnostics/diagnostics.h"
#include "train/evaluation/evaluation.h"
#include "train/evaluation/panel.h"
#include "train/first_step/first_step_check.h"
#include "train/first_step/first_step_probe.h"
#include "train/metrics/average.h"
#include "train/metrics/environment_failures.h"
#include "train/metrics/reasoning_metrics.h"
#include "train/metrics/rollout_metrics.h"
#include "train/update/estimate_advantages.h"
#include "train/update/policy_update.h"
#include "train/warm_start/warm_start.h"

namespace starpo {
namespace {

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// Returns the length or entropy of each episode, whose mean ranks the group; nothing if the reward std ranks it.
std::vector<double> measurements(std::span<const Episode> group, FilterScore score) {
  std::vector<double> result;
  if (score == FilterScore::reward_std) return result;
  for (const Episode& episode : group) {
    const double tokens = episode.sampled_tokens();
    double entropy = 0;
    for (const Turn& turn : episode.turns)
      entropy += std::accumulate(turn.entropies.begin(), turn.entropies.end(), 0.0);
    result.push_back(score == FilterScore::length ? tokens : entropy / tokens);
  }
  return result;
}

// Returns the groups with the scores of their valid episodes.
std::vector<ScoredGroup> scored_groups(std::span<const Episode> episodes, FilterScore score) {
  std::vector<ScoredGroup> groups;
  for (const auto group : groups_of(episodes)) {
    ScoredGroup& scored = groups.emplace_back(group.front().spec.environment);
    for (const Episode& episode : group)
      if (!episode.is_void()) scored.scores.push_back(episode.score);
    scored.measurements = measurements(group, score);
  }
  return groups;
}

// Adds the metrics of replay. Returns the number of fresh sequences, which come first.
std::size_t add_replay_metrics(const RunConfig& config, std::span<const Sequence> sequences, Metrics& metrics) {
  const auto first_replayed = std::ranges::find_if(sequences, [](const Sequence& each) { return each.staleness > 0; });
  const auto fresh = static_cast<std::size_t>(first_replayed - sequences.begin());
  if (!config.replay.is_active() || sequences.empty()) return fresh;
  Average staleness, is_fresh;
  for (const auto samples : sequences_by_episode(sequences)) {
    const int age = samples.front().staleness;
    is_fresh.add(age == 0);
    if (age > 0) staleness.add(age);
  }
  at(metrics, metric::kReplayShare) = 1 - is_fresh.sum / static_cast<double>(is_fresh.count);
  set_average(metrics, metric::kReplayStaleness, staleness);
  return fresh;
}

constexpr auto kTrainingSplit = "train";
constexpr auto kEnvironmentFailed = "environment_failed";

// Training data of an episode, per sampled token.
struct TrainedValues {
  bool kept = false;
  std::vector<double> advantages;
  std::vector<float> values;
};

}  // namespace

TrainingRun::TrainingRun(std::filesystem::path run_directory, Journal& journal)
    : directory_(std::move(run_directory)),
      journal_(journal),
      control_(directory_, journal),
      checkpoints_(directory_, journal),
      writer_(directory_, journal) {}

RunEnd TrainingRun::run() {
  try {
    return run_iterations();
  } catch (...) {
    checkpoints_.publish_best_effort();
    throw;
  }
}

RunEnd TrainingRun::run_iterations() {
  const RunConfig& config = state_->config;
  // The first evaluation of a fork has the iteration of its checkpoint.
  control_.set_iteration(iteration_);
  weights_iteration_ = iteration_;
  try {
    if (!resumed_) {
      evaluate();
      checkpoint();
      checkpoints_.publish();  // without a checkpoint, a run that was killed after an iteration can't be resumed
    } else if (evaluation_due() && !is_evaluated()) {
      evaluate();
    }
    while (iteration_ < config.iterations && !stops()) {
      ++iteration_;
      control_.set_iteration(iteration_);
      train_iteration();
      checkpoints_.publish_if_written();

      if (evaluation_due()) evaluate();
      if (iteration_ == config.iterations || control_.checkpoint_requested() || stops() ||
          (config.checkpoint.every > 0 && iteration_ % config.checkpoint.every == 0))
        checkpoint();
      budget_->check();
    }
  } catch (const Aborted&) {
    // The stop aborted a rollout, so the weights are those of the previous iteration.
    --iteration_;
    checkpoint();
  } catch (const Error& error) {
    // The next process repeats an evaluation that failed.
    if (error.code() != kEnvironmentFailed && error.code() != kPanelChanged) throw;
    iteration_ = weights_iteration_;
    checkpoint();
    checkpoints_.publish();
    throw;
  }
  checkpoints_.publish();
  control_.finish();
  if (iteration_ >= config.iterations) return {"completed", ""};
  if (!early_stop_->reason().empty()) return {"early_stop", early_stop_->reason()};
  return {control_.stop_reason(), ""};
}

bool TrainingRun::stops() const { return control_.stop_requested() || !early_stop_->reason().empty(); }

bool TrainingRun::evaluation_due() const {
  const RunConfig& config = state_->config;
  return iteration_ == first_iteration(config) || iteration_ == config.iterations ||
         (config.evaluation.every > 0 && iteration_ % config.evaluation.every == 0);
}

// Returns whether the journal has the evaluations of the loaded checkpoint.
bool TrainingRun::is_evaluated() const {
  const auto labels = evaluated_labels(directory_ / "events.jsonl", iteration_);
  return std::ranges::all_of(state_->config.environments, [&](const EnvironmentConfig& environment) {
    return !environment.validate || labels.contains(environment.label);
  });
}

void TrainingRun::rehearse(int iterations, const ResponseLimit& response_limit) {
  for (EpisodeRules& rules : state_->playground.rules) rules.response_limit = response_limit;
  for (int i = 0; i < iterations && !control_.stop_requested(); ++i) {
    control_.set_iteration(++iteration_);
    train_iteration();
  }
}

void TrainingRun::train_iteration() {
  const Stopwatch watch(control_);
  Iteration trained;
  if (state_->config.task == Task::warm_start) {
    const Stopwatch update(control_);
    auto result = warm_start_iteration(state_->config, state_->playground, state_->replica, state_->threads, iteration_,
                                       [&](int done, int total) {
                                         journal_.phase("update", iteration_, done, total);
                                         control_.poll();
                                       });
    trained = {std::move(result.metrics), std::move(result.updates), {}, {}};
    at(trained.metrics, metric::kTimeUpdate) = update.seconds();
  } else {
    trained = reinforce();
  }
  at(trained.metrics, metric::kTimeIteration) = watch.seconds();
  at(trained.metrics, metric::kMemoryPeakBytes) = peak_memory_bytes();
  if (const auto in_use = state_->replica.engine->memory_in_use()) {
    device_peak_bytes_ = std::max(device_peak_bytes_, *in_use);
    at(trained.metrics, metric::kMemoryDevicePeakBytes) = static_cast<double>(device_peak_bytes_);
  }
  journal_.iteration(iteration_, trained.metrics, trained.updates, trained.reasoning);
  early_stop_->add_iteration(trained.metrics);
  if (!trained.first_step.empty()) journal_.first_step_check(iteration_, trained.first_step);
  if (const auto refused = state_->replica.engine->refused_products(); refused && !warned_of_refused_products_) {
    journal_.warning(*refused);
    warned_of_refused_products_ = true;
  }
}

// Due after the first iteration, and again after the first that trains the policy if the critic warms up first.
bool TrainingRun::first_step_due() const {
  const RunConfig& config = state_->config;
  return iteration_ == first_iteration(config) + 1 ||
         (state_->replica.critic && iteration_ == critic_warmup_end(config) + 1);
}

TrainingRun::Iteration TrainingRun::reinforce() {
  const RunConfig& config = state_->config;
  Iteration trained;
  Metrics& metrics = trained.metrics;
  auto voids = std::make_shared<std::vector<Episode>>();
  const auto episodes = std::make_shared<const std::vector<Episode>>(roll_out(metrics, *voids));
  if (config.rollout.think) trained.reasoning = most_common_reasoning(*episodes);

  const Stopwatch update(control_);
  journal_.phase("filter", iteration_, 0, 1);
  const auto kept_groups = filter_episodes(*episodes, metrics);
  auto kept = estimate_advantages(
      config, state_->replica, *episodes, kept_groups, metrics,
      [&] {
        journal_.phase("update", iteration_, 0, 1);
        control_.poll();
      },
      draw_replay(*episodes, kept_groups));
  const auto fresh = std::span(kept).first(add_replay_metrics(config, kept, metrics));
  write_training_episodes(episodes, std::move(voids), fresh);
  auto trained_groups = config.replay.is_active() ? replay_groups(iteration_, fresh) : std::vector<ReplayGroup>();
  UpdateResult result;
  double diagnostics_seconds = 0;
  try {
    if (diagnostics_due(config, iteration_)) diagnostics_seconds = diagnose(*episodes, fresh, metrics);
    mix_environments(kept);
    std::optional<FirstStepProbe> probe;
    if (first_step_due()) probe.emplace(config, state_->replica, kept, [&] { control_.poll(); });
    result = update_policy(config, state_->replica, iteration_, kept, [&](int done, int total) {
      writer_.log_if_written();  // makes the episodes visible during the update
      journal_.phase("update", iteration_, done, total);
      control_.poll();
    });
    weights_iteration_ = iteration_;
    metrics.merge(result.metrics);
    if (probe) trained.first_step = first_step_check(config, metrics, probe->measure());
  } catch (...) {
    writer_.log_best_effort();  // keep the episodes of a failed update for inspection
    throw;
  }
  trained.updates = std::move(result.updates);
  double tokens = 0;
  for (const Sequence& sequence : kept) tokens += sequence.tokens();
  at(metrics, metric::kTimeWrite) = writer_.wait_and_log();
  remove_old_rollouts(directory_, config.rollout_files, iteration_, journal_);
  const double seconds = update.seconds() - diagnostics_seconds;
  at(metrics, metric::kTimeUpdate) = seconds;
  if (tokens > 0) at(metrics, metric::kThroughputTrainedTokensPerSecond) = tokens * config.policy_loss.epochs / seconds;
  replay_.add(iteration_, std::move(trained_groups), config.replay);  // invalidates the episodes of replayed sequences
  return trained;
}

ReplayedGroups TrainingRun::draw_replay(std::span<const Episode> episodes, const std::vector<bool>& kept_groups) {
  const RunConfig& config = state_->config;
  if (!config.replay.is_active()) return {};
  std::vector<int> fresh(config.environments.size());
  const auto groups = groups_of(episodes);
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (kept_groups[group]) ++fresh[groups[group].front().spec.environment];
  const int first_group = config.rollout.groups * (config.rollout.extra_rounds + 1);
  return {iteration_, replay_.draw(config, iteration_, fresh, first_group)};
}

// Returns its duration in seconds.
double TrainingRun::diagnose(std::span<const Episode> episodes, std::span<const Sequence> kept, Metrics& metrics) {
  const Stopwatch watch(control_);
  journal_.phase("diagnose", iteration_, 0, 1);
  const auto progress = [&] {
    writer_.log_if_written();
    control_.poll();
  };
  const RunConfig& config = state_->config;
  std::vector<Episode> probe;
  if (config.diagnostics.probe && config.rollout.think) {
    probe = play_probe(config, state_->playground, *state_->replica.generator, iteration_, [&](int) { progress(); });
    take_void_episodes(probe, "in the diagnostics, ");
    episodes = probe;
  }
  add_diagnostics(config, state_->replica, episodes, kept, metrics, progress);
  return at(metrics, metric::kTimeDiagnostics) = watch.seconds();
}

std::vector<Episode> TrainingRun::take_void_episodes(std::vector<Episode>& episodes, const std::string& place) {
  for (const EnvironmentFailures& failures : environment_failures(episodes, state_->config)) {
    const std::string message = place + failures.text;
    if (failures.is_alert())
      journal_.environment_alert(iteration_, failures.label, failures.voided, failures.episodes, message);
    else
      journal_.warning("iteration " + std::to_string(iteration_) + ": " + message);
  }
  return take_void(episodes);
}

std::vector<bool> TrainingRun::filter_episodes(std::span<const Episode> episodes, Metrics& metrics) {
  const auto all = scored_groups(episodes, state_->config.filter.score);
  const auto chosen = choose_groups(all).chosen;
  std::vector<ScoredGroup> groups;
  for (std::size_t group = 0; group < all.size(); ++group)
    if (chosen[group]) groups.push_back(all[group]);
  auto result = filter_groups(groups, state_->config.filter);
  // Void episodes can leave one of a group, which can't be compared with others.
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (groups[group].scores.size() == 1 && state_->config.rollout.group_size > 1) result.kept[group] = false;
  for (const auto& [environment, text] : result.warnings) {
    const std::string label =
        state_->config.environments.size() > 1 ? state_->config.environments[environment].label + ": " : "";
    journal_.warning("iteration " + std::to_string(iteration_) + ": " + label + text);
  }
  std::vector<double> kept_stds;
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (result.kept[group]) kept_stds.push_back(result.reward_stds[group]);
  at(metrics, metric::kFilterKeptGroups) = static_cast<double>(kept_stds.size());
  if (!kept_stds.empty() && state_->config.rollout.group_size > 1)
    at(metrics, metric::kFilterKeptRewardStd) = mean(kept_stds);
  std::vector<bool> kept(all.size());
  for (std::size_t group = 0, next = 0; group < all.size(); ++group) kept[group] = chosen[group] && result.kept[next++];
  return kept;
}

// Without extra rounds, all groups take part.
RoundGroups TrainingRun::choose_groups(std::span<const ScoredGroup> groups) const {
  const RunConfig& config = state_->config;
  if (config.rollout.extra_rounds == 0) return {std::vector<bool>(groups.size(), true), true};
  return choose_from_rounds(groups, groups_by_environment(config.environments, config.rollout.groups), config.filter);
}

std::vector<Episode> TrainingRun::roll_out(Metrics& metrics, std::vector<Episode>& voids) {
  const Stopwatch watch(control_);
  const RolloutConfig& rollout = state_->config.rollout;
  const std::function<void()> write_last_checkpoint = [&] {
    start_checkpoint(iteration_ - 1);
    checkpoints_.publish();
  };
  std::vector<Episode> episodes;
  int rounds = 0;
  do {
    const auto specs = training_episodes(state_->config, iteration_, rounds);
    const auto played = static_cast<int>(episodes.size());
    RolloutRequest request{specs,
                           state_->playground.rules,
                           state_->playground.prototypes,
                           training_sampling(rollout),
                           {state_->config.seed, RandomStream::train_sampling},
                           static_cast<std::uint32_t>(iteration_),
                           {},
                           state_->playground.reward_program.get(),
                           played};
    request.progress = [&](int finished) {
      journal_.phase("rollout", iteration_, played + finished, played + static_cast<std::int64_t>(specs.size()));
      control_.poll_abortable(write_last_checkpoint);
    };
    control_.poll_abortable(write_last_checkpoint);
    std::ranges::move(run_rollout(*state_->replica.generator, request), std::back_inserter(episodes));
  } while (++rounds <= rollout.extra_rounds &&
           !choose_groups(scored_groups(episodes, FilterScore::reward_std)).complete);
  const double seconds = watch.seconds();
  Metrics failures;
  add_environment_failures(episodes, state_->config, failures);
  voids = take_void_episodes(episodes, "");
  rate_level_difficulty(state_->config, state_->playground.prototypes, episodes);

  metrics = rollout_metrics(episodes, rollout.think);
  metrics.merge(rollout_metrics_by_environment(episodes, state_->config));
  metrics.merge(failures);
  double tokens = 0;
  for (const Episode& episode : episodes) tokens += episode.sampled_tokens();
  if (rollout.extra_rounds > 0) at(metrics, metric::kRolloutRounds) = rounds;
  at(metrics, metric::kTimeRollout) = seconds;
  at(metrics, metric::kThroughputGeneratedTokensPerSecond) = tokens / seconds;
  return episodes;
}

// Plays the next environment while the episodes of the previous one are written. Logs an evaluation after its files.
void TrainingRun::evaluate() {
  struct Played {
    std::string label;
    Metrics metrics;
    std::string panel;  // its hash
    double seconds;
  };
  std::optional<Played> played;
  const auto log_evaluation = [&] {
    if (!played) return;
    const double writing = writer_.wait_and_log();
    at(played->metrics, metric::kTimeEvaluation) = played->seconds + writing;
    journal_.evaluation(iteration_, played->label, played->metrics, played->panel);
    early_stop_->add_evaluation(iteration_, played->label, played->metrics);
  };
  try {
    for (std::size_t e = 0; e < state_->config.environments.size(); ++e) {
      const EnvironmentConfig& environment = state_->config.environments[e];
      if (!environment.validate) continue;
      const Stopwatch watch(control_);
      const auto progress = [&](int finished) {
        journal_.phase("evaluate", iteration_, finished, state_->config.evaluation.levels);
        control_.poll();  // a stop does not abort an evaluation, since a checkpoint must include it
      };
      const int index = static_cast<int>(e);
      auto played_episodes =
          play_evaluation({state_->config, state_->playground, *state_->replica.generator}, index, index, progress);
      auto voids = take_void_episodes(played_episodes, "in the evaluation, ");
      const auto episodes = std::make_shared<const std::vector<Episode>>(std::move(played_episodes));
      const double seconds = watch.seconds();
      log_evaluation();
      const std::string panel = record_panel(
          directory_, environment.label,
          panel_of(environment, state_->playground.prototypes[e]->files_digest(), in_order(*episodes, voids)));
      writer_.start(iteration_, environment.label,
                    [&environment, &tokenizer = state_->playground.tokenizer, iteration = iteration_, episodes,
                     voids = std::move(voids)](RolloutWriter& writer) {
                      write_evaluation(writer, in_order(*episodes, voids), iteration, environment, tokenizer);
                    });
      played = {environment.label, evaluation_metrics(*episodes, environment.label), panel, seconds};
    }
    log_evaluation();
  } catch (...) {
    writer_.log_best_effort();
    throw;
  }
}

// Starts writing the episodes in the background.
void TrainingRun::write_training_episodes(std::shared_ptr<const std::vector<Episode>> episodes,
                                          std::shared_ptr<const std::vector<Episode>> voids,
                                          std::span<const Sequence> kept) {
  std::map<int, TrainedValues> trained;  // by number of the episode
  for (const Sequence& sequence : kept) {
    TrainedValues& own = trained[sequence.episode->number];
    own.kept = true;
    own.advantages.insert(own.advantages.end(), sequence.advantages.begin(), sequence.advantages.end());
    own.values.insert(own.values.end(), sequence.values.begin(), sequence.values.end());
  }
  writer_.start(iteration_, kTrainingSplit,
                [this, iteration = iteration_, episodes = std::move(episodes), voids = std::move(voids),
                 trained = std::move(trained)](RolloutWriter& writer) {
                  const TrainedValues dropped;
                  for (const Episode* episode : in_order(*episodes, *voids)) {
                    const auto found = trained.find(episode->number);
                    const TrainedValues& values = found == trained.end() ? dropped : found->second;
                    const EpisodeRecord record{episode_id(iteration, kTrainingSplit, episode->number),
                                               iteration,
                                               kTrainingSplit,
                                               values.kept,
                                               values.advantages,
                                               values.values};
                    const EnvironmentConfig& environment = state_->config.environments[episode->spec.environment];
                    writer.add(episode_json(*episode, record, environment, state_->playground.tokenizer),
                               episode_summary(*episode, record, environment));
                  }
                });
}

void TrainingRun::checkpoint() {
  control_.clear_checkpoint_request();
  start_checkpoint(iteration_);
}

// The replica must be in the state of that iteration.
void TrainingRun::start_checkpoint(int iteration) {
  if (checkpointed_ == iteration) return;
  journal_.phase("checkpoint", iteration, 0, 1);
  checkpoints_.start({state_->config, state_->replica, state_->playground.chat.stop_ids(), state_->published_files,
                      state_->config.replay.is_active() ? &replay_ : nullptr},
                     iteration);
  checkpointed_ = iteration;
}

}  // namespace starpo
