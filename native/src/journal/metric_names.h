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
inline constexpr std::string_view rollout_level_ease = "rollout/level_ease";
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
inline constexpr std::string_view rollout_template_share = "rollout/template_share";
inline constexpr std::string_view rollout_thought_likeness_in_group = "rollout/thought_likeness_in_group";
inline constexpr std::string_view rollout_thought_likeness_across = "rollout/thought_likeness_across";
inline constexpr std::string_view rollout_common_opening_share = "rollout/common_opening_share";
inline constexpr std::string_view rollout_repeated_ngrams = "rollout/repeated_ngrams";
inline constexpr std::string_view rollout_think_entropy = "rollout/think_entropy";
inline constexpr std::string_view rollout_answer_entropy = "rollout/answer_entropy";
inline constexpr std::string_view rollout_entropy_by_turn = "rollout/entropy_by_turn/<turn>";
inline constexpr std::string_view rollout_action_share = "rollout/action_share/<action>";
inline constexpr std::string_view rollout_first_action_entropy = "rollout/first_action_entropy";
inline constexpr std::string_view rollout_first_action_dependence = "rollout/first_action_dependence";
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
inline constexpr std::string_view actor_ratio_max = "actor/ratio_max";
inline constexpr std::string_view actor_approximate_kl = "actor/approximate_kl";
inline constexpr std::string_view actor_kl_to_reference = "actor/kl_to_reference";
inline constexpr std::string_view actor_learning_rate = "actor/learning_rate";
inline constexpr std::string_view critic_loss = "critic/loss";
inline constexpr std::string_view critic_grad_norm = "critic/grad_norm";
inline constexpr std::string_view critic_explained_variance = "critic/explained_variance";
inline constexpr std::string_view critic_value_mean = "critic/value_mean";
inline constexpr std::string_view advantage_mean = "advantage/mean";
inline constexpr std::string_view advantage_std = "advantage/std";
inline constexpr std::string_view advantage_active_share = "advantage/active_share";
inline constexpr std::string_view advantage_zero_spread_share = "advantage/zero_spread_share";
inline constexpr std::string_view diagnostics_mutual_information = "diagnostics/mutual_information";
inline constexpr std::string_view diagnostics_mutual_information_ceiling = "diagnostics/mutual_information_ceiling";
inline constexpr std::string_view diagnostics_conditional_entropy = "diagnostics/conditional_entropy";
inline constexpr std::string_view diagnostics_marginal_entropy = "diagnostics/marginal_entropy";
inline constexpr std::string_view diagnostics_mutual_information_per_token = "diagnostics/mutual_information_per_token";
inline constexpr std::string_view diagnostics_conditional_entropy_per_token =
    "diagnostics/conditional_entropy_per_token";
inline constexpr std::string_view diagnostics_retrieval_accuracy = "diagnostics/retrieval_accuracy";
inline constexpr std::string_view diagnostics_retrieval_accuracy_at_k = "diagnostics/retrieval_accuracy_at_k";
inline constexpr std::string_view diagnostics_retrieval_k = "diagnostics/retrieval_k";
inline constexpr std::string_view diagnostics_retrieval_ceiling = "diagnostics/retrieval_ceiling";
inline constexpr std::string_view diagnostics_retrieval_ceiling_at_k = "diagnostics/retrieval_ceiling_at_k";
inline constexpr std::string_view diagnostics_kl_from_start = "diagnostics/kl_from_start";
inline constexpr std::string_view diagnostics_grad_norm_low_spread = "diagnostics/grad_norm_low_spread";
inline constexpr std::string_view diagnostics_grad_norm_middle_spread = "diagnostics/grad_norm_middle_spread";
inline constexpr std::string_view diagnostics_grad_norm_high_spread = "diagnostics/grad_norm_high_spread";
inline constexpr std::string_view warm_start_loss = "warm_start/loss";
inline constexpr std::string_view time_rollout = "time/rollout";
inline constexpr std::string_view time_update = "time/update";
inline constexpr std::string_view time_diagnostics = "time/diagnostics";
inline constexpr std::string_view time_write = "time/write";
inline constexpr std::string_view time_evaluation = "time/evaluation";
inline constexpr std::string_view time_iteration = "time/iteration";
inline constexpr std::string_view throughput_generated_tokens_per_second = "throughput/generated_tokens_per_second";
inline constexpr std::string_view throughput_trained_tokens_per_second = "throughput/trained_tokens_per_second";
inline constexpr std::string_view memory_peak_bytes = "memory/peak_bytes";
inline constexpr std::string_view memory_device_peak_bytes = "memory/device_peak_bytes";

// A name with "<...>" in the list below stands for several: of_member("rollout/action_share/<action>", "Left") is
// rollout/action_share/Left.
inline std::string of_member(std::string_view family, std::string_view member) {
  return std::string(family.substr(0, family.find('<'))) + std::string(member);
}

// Whether a metric is the one of the list, or one of those that it stands for.
constexpr bool is_named(std::string_view name, std::string_view listed) {
  return listed.ends_with('>') ? name.starts_with(listed.substr(0, listed.find('<'))) : name == listed;
}

struct Description {
  std::string_view name;
  std::string_view unit;  // empty: a mere number
  std::string_view meaning;
};

// Of an `iteration` event, for people: core's list and docs/formats/metrics.md are made from it.
inline constexpr std::array iteration_metrics{
    Description{rollout_success_rate, "share", "episodes that succeeded"},
    Description{rollout_reward_mean, "reward", "mean episode score, penalties included"},
    Description{rollout_reward_max_in_group, "reward", "mean over groups of the best score"},
    Description{rollout_reward_std_in_group, "reward",
                "mean over groups of the unbiased standard deviation of scores; absent for group size 1"},
    Description{rollout_reward_std_by_action, "reward",
                "Bandit: as above, but of scores that are replaced by the mean of the rollout's scores for the same "
                "choice (the arm, or none): the spread that is the choice's, without the luck of payouts; absent "
                "without arms and for group size 1"},
    Description{rollout_zero_std_groups, "share",
                "groups whose scores are all the same, but for the rounding of their sums (1e-9 of the larger of 1 and "
                "their size); absent for group size 1, as the next two are"},
    Description{rollout_zero_std_solved, "share", "of all groups: zero-spread ones where all succeeded"},
    Description{rollout_zero_std_failed, "share", "of all groups: zero-spread ones where none did"},
    Description{rollout_pass_at_n, "share", "groups with at least one success"},
    Description{rollout_level_ease, "nats",
                "mean over groups of how easy the level is: the logarithm of the chance, at least 0.001, that as many "
                "actions as an episode may have, drawn at random, succeed; absent where something is left to chance "
                "(Bandit, slippery ice) and for levels too large to count out"},
    Description{rollout_turns, "turns", "per episode"},
    Description{rollout_actions, "actions", "executed, per episode"},
    Description{rollout_format_valid_rate, "share", "turns whose reply had both blocks"},
    Description{rollout_action_valid_rate, "share", "turns in which no action was dropped or missing"},
    Description{rollout_action_effective_rate, "share", "executed actions that changed the state"},
    Description{rollout_response_tokens, "tokens", "sampled, per episode"},
    Description{rollout_think_tokens, "tokens", "sampled before `</think>`, per turn; absent without thinking"},
    Description{rollout_truncated_rate, "share", "turns cut by the token limit"},
    Description{rollout_entropy, "nats", "mean over sampled tokens, from logits / temperature"},
    Description{rollout_distinct_first_thoughts, "share",
                "mean over groups of distinct first-turn thoughts (the whole reply where it is invalid) / group size; "
                "absent without thinking and for group size 1"},
    Description{rollout_empty_think_rate, "share",
                "turns with an empty thought, of turns with a valid reply; absent without thinking"},
    Description{rollout_template_share, "share",
                "episodes whose first thought is the commonest one, on whatever board: near 1 all say the same (the "
                "`iteration` event has its text); absent without thinking, as the next three are. First thoughts are "
                "those of `rollout/distinct_first_thoughts`"},
    Description{
        rollout_thought_likeness_in_group, "share",
        "mean over groups of the mean Jaccard index of two members' first thoughts, as sets of word 3-grams (the whole "
        "text where it has fewer words); each member is held against at most the 64 after it; absent for group size 1"},
    Description{rollout_thought_likeness_across, "share",
                "the same of two first thoughts on different boards: each group's members against those of at most the "
                "64 groups after it; absent where there is one board"},
    Description{rollout_common_opening_share, "share",
                "first thoughts that begin with the commonest first three words"},
    Description{rollout_repeated_ngrams, "share",
                "mean over replies of the share of a reply's token 4-grams that occurred earlier in it"},
    Description{rollout_think_entropy, "nats",
                "mean over sampled tokens up to and including the one that completes `</think>`, from logits / "
                "temperature; absent without thinking, as the next is"},
    Description{rollout_answer_entropy, "nats", "mean over sampled tokens after it"},
    Description{rollout_entropy_by_turn, "nats", "mean over sampled tokens of an episode's turn 1, 2, ... 8"},
    Description{rollout_action_share, "share",
                "executed actions, by the environment's names for them; absent where it has none"},
    Description{rollout_first_action_entropy, "nats",
                "H(a) of an episode's first executed action (an arm is told by its place; none is a choice of its "
                "own), given the environment; absent where it names no actions"},
    Description{
        rollout_first_action_dependence, "nats",
        "I(a; board) = H(a) - mean over groups of H(a given the group), with the Miller-Madow correction for few "
        "draws, at least 0: how much the first action depends on the board; absent for group size 1 and for one group"},
    Description{rollout_logprob_gap, "nats",
                "mean absolute difference of the update's log-probability, before its first step, and the rollout's, "
                "over the tokens of the first mini-batch; 0 on a processor, and on a GPU with `exactness` `exact`"},
    Description{rollout_logprob_gap_max, "nats", "the largest of those differences"},
    Description{
        rollout_logprob_gap_kl, "nats",
        "Kullback-Leibler divergence of the rollout's policy from the update's, estimated on those tokens (k3)"},
    Description{filter_kept_groups, "groups", "groups that were trained on, of all environments together"},
    Description{filter_kept_reward_std, "reward", "mean over kept groups; absent for group size 1"},
    Description{actor_loss, "", "mean over optimiser steps"},
    Description{actor_entropy, "nats", "mean over trained tokens"},
    Description{actor_grad_norm, "", "global norm before clipping: mean over optimiser steps"},
    Description{actor_grad_norm_max, "", "global norm before clipping: largest over optimiser steps"},
    Description{actor_clip_fraction_low, "share", "trained tokens whose gradient the lower clip removed"},
    Description{actor_clip_fraction_high, "share", "trained tokens whose gradient the upper clip removed"},
    Description{actor_ratio_max, "",
                "largest ratio of the update's probability of a trained token to the rollout's, over the optimiser "
                "steps: 1 where nothing moved"},
    Description{actor_approximate_kl, "nats", "mean of rollout minus update log-probability over trained tokens"},
    Description{
        actor_kl_to_reference, "nats",
        "mean over trained tokens of `kl.estimator`'s estimate, before the update; absent where `kl.coefficient` is 0"},
    Description{actor_learning_rate, "", "of the last optimiser step"},
    Description{critic_loss, "reward²", "mean over optimiser steps; absent without a critic, as the next three are"},
    Description{critic_grad_norm, "", "global norm before clipping: mean over optimiser steps"},
    Description{critic_explained_variance, "share",
                "1 - variance(return - value) / variance(return) over trained tokens, before the update: 1 knows every "
                "return, 0 nothing but their mean; absent where the returns don't differ"},
    Description{critic_value_mean, "reward", "over trained tokens, before the update"},
    Description{advantage_mean, "", "mean over trained tokens, before whitening"},
    Description{advantage_std, "", "standard deviation over trained tokens, before whitening"},
    Description{advantage_active_share, "share", "trained tokens whose advantage isn't 0, before whitening"},
    Description{
        advantage_zero_spread_share, "share",
        "sum of the absolute advantages of zero-spread groups' tokens / that of all, as the update sees them: how much "
        "of it comes from groups that tell nothing apart; absent where all are 0, and for group size 1"},
    Description{diagnostics_mutual_information, "nats",
                "I(X; Z) of prompts X and first thoughts Z, a thought: how much better a thought's own prompt explains "
                "it than the prompts do on average (RAGEN-2). All of `diagnostics/` comes every `diagnostics.every` "
                "iterations, from samples of `diagnostics.samples` (at most an eighth of the rollout's episodes, or 8 "
                "where that is more), before the update, of the rollout or, with `diagnostics.probe`, of fixed levels; "
                "this family is absent without thinking and where all prompts are the same"},
    Description{diagnostics_mutual_information_ceiling, "nats",
                "the logarithm of the number of distinct prompts (at most 8): the most that it can be"},
    Description{diagnostics_conditional_entropy, "nats",
                "H(Z given X), a thought: minus the mean of its log-likelihood after its own prompt"},
    Description{diagnostics_marginal_entropy, "nats",
                "H(Z), a thought: the same of its mean likelihood over all prompts"},
    Description{diagnostics_mutual_information_per_token, "nats", "I(X; Z) over the thoughts' tokens"},
    Description{diagnostics_conditional_entropy_per_token, "nats", "H(Z given X) over the thoughts' tokens"},
    Description{diagnostics_retrieval_accuracy, "share",
                "thoughts that are likelier after their own prompt than after any other; prompts that make it as "
                "likely share the credit"},
    Description{diagnostics_retrieval_accuracy_at_k, "share",
                "thoughts whose own prompt is among the k that make it likeliest; absent for fewer than three prompts, "
                "as the next is"},
    Description{diagnostics_retrieval_k, "prompts", "k: 2"},
    Description{diagnostics_retrieval_ceiling, "share",
                "the best retrieval accuracy that these thoughts allow: of thoughts that say the same on several "
                "prompts, those on one of them"},
    Description{diagnostics_retrieval_ceiling_at_k, "share",
                "the same of the accuracy at k: of thoughts that say the same on several prompts, those on k of them; "
                "absent for fewer than three prompts"},
    Description{
        diagnostics_kl_from_start, "nats",
        "Kullback-Leibler divergence of the policy from the weights that its run began with, a trained token (k3, at "
        "most 10), whether there is a KL term or not; absent where those weights are gone when the run is resumed"},
    Description{
        diagnostics_grad_norm_low_spread, "",
        "norm of the policy objective's gradient, without entropy bonus and KL, over a sample of the third of the "
        "trained groups whose scores differ least; absent for fewer than three groups, as the next two are"},
    Description{diagnostics_grad_norm_middle_spread, "", "the same of the middle third"},
    Description{diagnostics_grad_norm_high_spread, "", "the same of the third whose scores differ most"},
    Description{warm_start_loss, "nats",
                "mean cross-entropy a reply token over the iteration's steps (task `warm_start`)"},
    Description{time_rollout, "s", "playing the episodes; as in all of these, a pause does not count"},
    Description{time_update, "s",
                "from the last reply to the iteration's end: filter, log-probabilities, advantages, optimiser steps, "
                "and what is left to wait for of writing the episodes"},
    Description{time_diagnostics, "s", "computing `diagnostics/`; absent where none were"},
    Description{time_write, "s",
                "making the episodes' JSON, compressing and flushing it, in a thread beside the update"},
    Description{time_evaluation, "s", "playing and writing an evaluation set; stands in `evaluation` events"},
    Description{time_iteration, "s", "rollout, update and diagnostics; neither evaluations nor checkpoints"},
    Description{throughput_generated_tokens_per_second, "tokens/s", "sampled tokens / `time/rollout`"},
    Description{throughput_trained_tokens_per_second, "tokens/s",
                "processed tokens of the update (context included, epochs counted) / `time/update`"},
    Description{memory_peak_bytes, "bytes", "the process's peak resident size"},
    Description{
        memory_device_peak_bytes, "bytes",
        "most of the GPU's memory that was in use when an iteration ended, other programs' too; absent on a processor"},
};

inline constexpr std::string_view rollout_prefix = "rollout/";

// Whether an iteration's metric also comes for each environment by itself, where several are trained: all that is
// counted over the rollout's episodes.
constexpr bool is_by_environment(std::string_view name) {
  return name.starts_with(rollout_prefix) && !name.starts_with(rollout_logprob_gap);
}

// rollout/turns -> rollout/<label>/turns
inline std::string of_environment(std::string_view name, std::string_view label) {
  return std::string(rollout_prefix) + std::string(label) + "/" + std::string(name.substr(rollout_prefix.size()));
}

// Of an `evaluation` event, each after "evaluation/<label>/".
inline constexpr std::array evaluation_metrics{
    Description{"success_rate", "share", "fixed levels that were solved"},
    Description{"success_rate_low", "share", "lower end of its Wilson 95 % interval"},
    Description{"success_rate_high", "share", "upper end of its Wilson 95 % interval"},
    Description{"reward_mean", "reward", "mean episode score, penalties included"},
    Description{"turns", "turns", "per episode"},
    Description{"response_tokens", "tokens", "sampled, per episode"},
    Description{"format_valid_rate", "share", "turns whose reply had both blocks"},
};

}  // namespace starpo::metric
