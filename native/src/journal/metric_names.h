#pragma once

#include <array>
#include <string>
#include <string_view>

// The names of docs/formats/metrics.md, once.
namespace starpo::metric {

inline constexpr std::string_view rollout_success_rate = "rollout/success_rate";
inline constexpr std::string_view rollout_reward_mean = "rollout/reward_mean";
inline constexpr std::string_view rollout_reward_max_in_group = "rollout/reward_max_in_group";
inline constexpr std::string_view rollout_reward_std_in_group = "rollout/reward_std_in_group";
inline constexpr std::string_view rollout_reward_std_by_action = "rollout/reward_std_by_action";
inline constexpr std::string_view rollout_zero_std_groups = "rollout/zero_std_groups";
inline constexpr std::string_view rollout_zero_std_solved = "rollout/zero_std_solved";
inline constexpr std::string_view rollout_zero_std_failed = "rollout/zero_std_failed";
inline constexpr std::string_view rollout_pass_at_n = "rollout/pass_at_n";
inline constexpr std::string_view rollout_turns = "rollout/turns";
inline constexpr std::string_view rollout_actions = "rollout/actions";
inline constexpr std::string_view rollout_format_valid_rate = "rollout/format_valid_rate";
inline constexpr std::string_view rollout_action_valid_rate = "rollout/action_valid_rate";
inline constexpr std::string_view rollout_action_effective_rate = "rollout/action_effective_rate";
inline constexpr std::string_view rollout_response_tokens = "rollout/response_tokens";
inline constexpr std::string_view rollout_think_tokens = "rollout/think_tokens";
inline constexpr std::string_view rollout_truncated_rate = "rollout/truncated_rate";
inline constexpr std::string_view rollout_entropy = "rollout/entropy";
inline constexpr std::string_view rollout_distinct_first_thoughts = "rollout/distinct_first_thoughts";
inline constexpr std::string_view rollout_empty_think_rate = "rollout/empty_think_rate";
inline constexpr std::string_view rollout_logprob_gap = "rollout/logprob_gap";
inline constexpr std::string_view rollout_logprob_gap_max = "rollout/logprob_gap_max";
inline constexpr std::string_view rollout_logprob_gap_kl = "rollout/logprob_gap_kl";
inline constexpr std::string_view filter_kept_groups = "filter/kept_groups";
inline constexpr std::string_view filter_kept_reward_std = "filter/kept_reward_std";
inline constexpr std::string_view actor_loss = "actor/loss";
inline constexpr std::string_view actor_entropy = "actor/entropy";
inline constexpr std::string_view actor_grad_norm = "actor/grad_norm";
inline constexpr std::string_view actor_grad_norm_max = "actor/grad_norm_max";
inline constexpr std::string_view actor_clip_fraction_low = "actor/clip_fraction_low";
inline constexpr std::string_view actor_clip_fraction_high = "actor/clip_fraction_high";
inline constexpr std::string_view actor_approximate_kl = "actor/approximate_kl";
inline constexpr std::string_view actor_kl_to_reference = "actor/kl_to_reference";
inline constexpr std::string_view actor_learning_rate = "actor/learning_rate";
inline constexpr std::string_view critic_loss = "critic/loss";
inline constexpr std::string_view critic_grad_norm = "critic/grad_norm";
inline constexpr std::string_view critic_explained_variance = "critic/explained_variance";
inline constexpr std::string_view critic_value_mean = "critic/value_mean";
inline constexpr std::string_view advantage_mean = "advantage/mean";
inline constexpr std::string_view advantage_std = "advantage/std";
inline constexpr std::string_view warm_start_loss = "warm_start/loss";
inline constexpr std::string_view time_rollout = "time/rollout";
inline constexpr std::string_view time_update = "time/update";
inline constexpr std::string_view time_evaluation = "time/evaluation";
inline constexpr std::string_view time_iteration = "time/iteration";
inline constexpr std::string_view throughput_generated_tokens_per_second = "throughput/generated_tokens_per_second";
inline constexpr std::string_view throughput_trained_tokens_per_second = "throughput/trained_tokens_per_second";
inline constexpr std::string_view memory_peak_bytes = "memory/peak_bytes";
inline constexpr std::string_view memory_device_peak_bytes = "memory/device_peak_bytes";

// Of an `iteration` event.
inline constexpr std::array iteration_names{
    rollout_success_rate, rollout_reward_mean, rollout_reward_max_in_group, rollout_reward_std_in_group, rollout_reward_std_by_action, rollout_zero_std_groups,
    rollout_zero_std_solved, rollout_zero_std_failed, rollout_pass_at_n, rollout_turns, rollout_actions, rollout_format_valid_rate,
    rollout_action_valid_rate, rollout_action_effective_rate, rollout_response_tokens, rollout_think_tokens, rollout_truncated_rate,
    rollout_entropy, rollout_distinct_first_thoughts, rollout_empty_think_rate, rollout_logprob_gap, rollout_logprob_gap_max,
    rollout_logprob_gap_kl, filter_kept_groups,
    filter_kept_reward_std, actor_loss, actor_entropy, actor_grad_norm, actor_grad_norm_max, actor_clip_fraction_low,
    actor_clip_fraction_high, actor_approximate_kl, actor_kl_to_reference, actor_learning_rate, critic_loss, critic_grad_norm,
    critic_explained_variance, critic_value_mean, advantage_mean, advantage_std, warm_start_loss, time_rollout,
    time_update, time_evaluation, time_iteration, throughput_generated_tokens_per_second,
    throughput_trained_tokens_per_second, memory_peak_bytes, memory_device_peak_bytes};

inline constexpr std::string_view rollout_prefix = "rollout/";

// Whether an iteration's metric also comes for each environment by itself, where several are trained: all that is counted over the rollout's episodes.
constexpr bool is_by_environment(std::string_view name) { return name.starts_with(rollout_prefix) && !name.starts_with(rollout_logprob_gap); }

// rollout/turns -> rollout/<label>/turns
inline std::string of_environment(std::string_view name, std::string_view label) {
  return std::string(rollout_prefix) + std::string(label) + "/" + std::string(name.substr(rollout_prefix.size()));
}

// Of an `evaluation` event, each after "evaluation/<label>/".
inline constexpr std::array<std::string_view, 7> evaluation_names{"success_rate", "success_rate_low", "success_rate_high", "reward_mean",
                                                                  "turns",        "response_tokens",  "format_valid_rate"};

}  // namespace starpo::metric
