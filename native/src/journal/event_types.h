#pragma once

#include <array>
#include <span>
#include <string_view>

// Every type of event of the journal with its fields, once: the table of docs/formats/journal.md is made of it, and
// what the journal writes and what core reads are held to it.
namespace starpo::event {

struct Field {
  std::string_view name;
  std::string_view note = {};  // what it holds, where its name doesn't say so
};

struct Type {
  std::string_view name;
  std::span<const Field> fields;
  std::string_view when;
};

inline constexpr Field started[] = {
    {"resume", "`{checkpoint, iteration}` or null"},
    {"iteration", "after which it goes on: that of `resume`, of the checkpoint that the run began from, or 0"},
    {"pid"},
    {"host"},
    {"build"},
    {"isa",
     "`scalar`, `avx2`, `avx512`; with precision `bf16` `amx_bf16`, `avx512_bf16`; on a GPU its architecture, as "
     "`sm_90`"},
    {"device", "the one that was chosen: `cpu`, `cuda:0`"},
    {"device_name"},
    {"threads"},
    {"iterations"},
    {"parameters"},
};
inline constexpr Field memory_plan[] = {
    {"device"}, {"device_bytes"}, {"free_bytes"}, {"total_bytes"}, {"parts", "see Memory plan"}};
inline constexpr Field phase[] = {
    {"name", "`load`, `evaluate`, `rollout`, `filter`, `diagnose`, `update`, `checkpoint`"},
    {"iteration"},
    {"done"},
    {"total"}};
inline constexpr Field iteration[] = {
    {"iteration"},
    {"metrics"},
    {"updates", R"(`{"actor/grad_norm": [..], "critic/grad_norm": [..]}`, one number an optimiser step)"},
    {"template",
     "`{text, share}`: the first thought that most episodes share, cut at 300 characters, and the share of them that "
     "have it; absent without thinking"},
};
inline constexpr Field evaluation[] = {{"iteration"}, {"label"}, {"metrics"}};
inline constexpr Field rollout[] = {{"iteration"},
                                    {"split", "`train` or the set's label"},
                                    {"file", "relative path"},
                                    {"index", "relative path"},
                                    {"episodes"}};
inline constexpr Field rollout_removed[] = {{"iteration"}, {"split"}};
inline constexpr Field checkpoint[] = {{"iteration"}, {"path", "relative"}};
inline constexpr Field checkpoint_state_removed[] = {{"iteration"}};
inline constexpr Field acknowledged[] = {{"command_id"}, {"accepted"}, {"message"}};
inline constexpr Field paused[] = {{"iteration"}};
inline constexpr Field resumed[] = {{"iteration"}};
inline constexpr Field log[] = {{"level", "`info`, `warning`"}, {"message"}};
inline constexpr Field stopped[] = {{"reason", "`completed`, `command`, `signal`"}, {"iteration"}};
inline constexpr Field failed[] = {{"code"}, {"message"}, {"hint"}, {"iteration"}};

inline constexpr std::array types{
    Type{"started", started,
         "opens every process that could load its run. Readers drop metrics, evaluations and rollouts of iterations "
         "above `resume.iteration`; all of them where `resume` is null"},
    Type{"memory_plan", memory_plan, "after `started`; the last one counts"},
    Type{"phase", phase,
         "one where the name changes, else at most four a second; `done` of `total` units of the phase (episodes, "
         "optimiser steps, ...)"},
    Type{"iteration", iteration, "an iteration is complete"},
    Type{"evaluation", evaluation, "an evaluation set is complete; iteration 0 is before training"},
    Type{"rollout", rollout,
         "a rollout file appeared under its final name; of training somewhen before its `iteration`, since it is "
         "written beside the update and told of as soon as it is whole, between two steps"},
    Type{"rollout_removed", rollout_removed,
         "the episodes of an iteration are about to be deleted, as `rollout_files` says; readers drop them from their "
         "list"},
    Type{"checkpoint", checkpoint, "a checkpoint appeared"},
    Type{"checkpoint_state_removed", checkpoint_state_removed,
         "a checkpoint is about to lose its optimiser state, as `checkpoint.keep` says; its weights stay"},
    Type{"acknowledged", acknowledged, "answers a line of control.jsonl"},
    Type{"paused", paused, "the run waits"},
    Type{"resumed", resumed, "the run goes on"},
    Type{"log", log, "something a person should read"},
    Type{"stopped", stopped, "the last line of an orderly end"},
    Type{"failed", failed,
         "the last line otherwise, where there still was one to write; without a `started` before it where loading "
         "failed"},
};

}  // namespace starpo::event
