#pragma once

#include <array>
#include <span>
#include <string_view>

// Defines every journal event and its fields. The table in docs/formats/journal.md is generated from this file, and
// tests check the journal and core's reader against it.
namespace starpo::event {

struct Field {
  std::string_view name;
  std::string_view note = {};  // meaning of the field; empty where the name is enough
};

struct Type {
  std::string_view name;
  std::span<const Field> fields;
  std::string_view when;
};

inline constexpr Field kStartedFields[] = {
    {"resume", "`{checkpoint, iteration}` or null"},
    {"iteration", "last completed iteration: of `resume`, of the checkpoint the run was forked from, or 0"},
    {"pid"},
    {"host"},
    {"build"},
    {"isa",
     "`scalar`, `avx2` or `avx512`; with precision `bf16` `amx_bf16` or `avx512_bf16`; on a GPU its architecture, "
     "e.g. `sm_90`"},
    {"device", "selected device: `cpu`, `cuda:0`"},
    {"device_name"},
    {"device_uuid", "UUID of the GPU or MIG slice, independent of its index; else null"},
    {"threads"},
    {"iterations"},
    {"parameters"},
};
inline constexpr Field kMemoryPlanFields[] = {
    {"device"}, {"device_bytes"}, {"free_bytes"}, {"total_bytes"}, {"parts", "see Memory plan"}};
inline constexpr Field kPhaseFields[] = {
    {"name", "`load`, `evaluate`, `rollout`, `filter`, `diagnose`, `update`, `checkpoint`"},
    {"iteration"},
    {"done"},
    {"total"}};
inline constexpr Field kIterationFields[] = {
    {"iteration"},
    {"metrics"},
    {"updates",
     R"(one number per optimizer step: `{"actor/grad_norm": [..], "actor/loss": [..]}` and the same of a trained critic; )"
     "only the critic's while `critic.warmup` lasts, only `actor/grad_norm` with task `warm_start`"},
    {"template",
     "`{text, share}`: the most common first reasoning, truncated to 300 characters, and the share of episodes with "
     "it; absent without reasoning and with task `warm_start`"},
};
inline constexpr Field kFirstStepCheckFields[] = {{"iteration"}, {"checks", "see First-step check"}};
inline constexpr Field kEvaluationFields[] = {
    {"iteration"}, {"label"}, {"metrics"}, {"panel", "hash of its levels, see [panels](panels.md)"}};
inline constexpr Field kRolloutFields[] = {{"iteration"},
                                           {"split", "`train` or the label of the evaluation set"},
                                           {"file", "relative path"},
                                           {"index", "relative path"},
                                           {"episodes"}};
inline constexpr Field kRolloutRemovedFields[] = {{"iteration"}, {"split"}};
inline constexpr Field kCheckpointFields[] = {{"iteration"}, {"path", "relative"}};
inline constexpr Field kCheckpointStateRemovedFields[] = {{"iteration"}};
inline constexpr Field kAcknowledgedFields[] = {{"command_id"}, {"accepted"}, {"message"}};
inline constexpr Field kPausedFields[] = {{"iteration"}};
inline constexpr Field kResumedFields[] = {{"iteration"}};
inline constexpr Field kEnvironmentAlertFields[] = {{"iteration"},
                                                    {"environment", "label"},
                                                    {"void", "number of void episodes"},
                                                    {"episodes"},
                                                    {"message", "for the user, with the most common reasons"}};
inline constexpr Field kLogFields[] = {{"level", "`info`, `warning`"}, {"message"}};
inline constexpr Field kStoppedFields[] = {
    {"reason", "`completed`, `command`, `signal`, `early_stop`"},
    {"iteration"},
    {"message", "the rule of an `early_stop` with its numbers, otherwise empty"}};
inline constexpr Field kFailedFields[] = {{"code"}, {"message"}, {"hint"}, {"iteration"}};

inline constexpr std::array kTypes{
    Type{"started", kStartedFields,
         "a process has loaded the policy of the run. Readers drop metrics, evaluations and rollouts of iterations "
         "above "
         "`resume.iteration`, or all of them if `resume` is null"},
    Type{"memory_plan", kMemoryPlanFields, "after `started`; readers keep the last event"},
    Type{"phase", kPhaseFields,
         "progress of a phase, `done` of `total` units (episodes, optimizer steps, ...): when the name changes, "
         "otherwise at most four per second"},
    Type{"iteration", kIterationFields, "an iteration completed"},
    Type{"first_step_check", kFirstStepCheckFields,
         "after the first `iteration` event of a run with task `reinforce`, and again after the first update of the "
         "policy if the critic warms up "
         "first; readers keep the last event"},
    Type{"evaluation", kEvaluationFields,
         "an evaluation set completed; the first is before training, at iteration 0 or that of the fork"},
    Type{"rollout", kRolloutFields,
         "a rollout file was written. Training rollouts are written and logged during diagnostics and update, before "
         "the `iteration` event"},
    Type{"rollout_removed", kRolloutRemovedFields,
         "the episodes of an iteration are about to be deleted, according to `rollout_files`; readers drop them from "
         "their list"},
    Type{"checkpoint", kCheckpointFields, "a checkpoint was written"},
    Type{
        "checkpoint_state_removed", kCheckpointStateRemovedFields,
        "the optimizer state of a checkpoint is about to be deleted, according to `checkpoint.keep`; its weights stay"},
    Type{"acknowledged", kAcknowledgedFields, "response to a line of control.jsonl"},
    Type{"paused", kPausedFields, "the run paused"},
    Type{"resumed", kResumedFields, "the run resumed after a pause"},
    Type{"environment_alert", kEnvironmentAlertFields,
         "more than 5 % of an environment's episodes in a rollout, an evaluation or the diagnostics' probe are void; "
         "core "
         "raises an alert"},
    Type{"log", kLogFields, "message for the user"},
    Type{"stopped", kStoppedFields, "last event of a run that completed or was stopped"},
    Type{"failed", kFailedFields,
         "last event of a run that failed, if it could still be written; without a preceding `started` if it failed "
         "before the policy was loaded"},
};

}  // namespace starpo::event
