#pragma once

#include <array>
#include <string>
#include <string_view>

// Defines the name, unit and meaning of every metric. docs/formats/metrics.md is generated from this file.
namespace starpo::metric {

inline constexpr std::string_view kRolloutSuccessRate = "rollout/success_rate";
inline constexpr std::string_view kRolloutEnvironmentFailureRate = "rollout/environment_failure_rate";
inline constexpr std::string_view kRolloutVoidRate = "rollout/void_rate";
inline constexpr std::string_view kRolloutRewardMean = "rollout/reward_mean";
inline constexpr std::string_view kRolloutRewardTerm = "rollout/reward_term/<term>";
inline constexpr std::string_view kRolloutRewardMaxInGroup = "rollout/reward_max_in_group";
inline constexpr std::string_view kRolloutRewardStdInGroup = "rollout/reward_std_in_group";
inline constexpr std::string_view kRolloutRewardStdByAction = "rollout/reward_std_by_action";
inline constexpr std::string_view kRolloutZeroStdGroups = "rollout/zero_std_groups";
inline constexpr std::string_view kRolloutZeroStdSolved = "rollout/zero_std_solved";
inline constexpr std::string_view kRolloutZeroStdFailed = "rollout/zero_std_failed";
inline constexpr std::string_view kRolloutPassAtN = "rollout/pass_at_n";
inline constexpr std::string_view kRolloutRandomSuccessLogprob = "rollout/random_success_logprob";
inline constexpr std::string_view kRolloutTurns = "rollout/turns";
inline constexpr std::string_view kRolloutActions = "rollout/actions";
inline constexpr std::string_view kRolloutFormatValidRate = "rollout/format_valid_rate";
inline constexpr std::string_view kRolloutActionValidRate = "rollout/action_valid_rate";
inline constexpr std::string_view kRolloutActionEffectiveRate = "rollout/action_effective_rate";
inline constexpr std::string_view kRolloutResponseTokens = "rollout/response_tokens";
inline constexpr std::string_view kRolloutThinkTokens = "rollout/think_tokens";
inline constexpr std::string_view kRolloutTruncatedRate = "rollout/truncated_rate";
inline constexpr std::string_view kRolloutStateTruncatedRate = "rollout/state_truncated_rate";
inline constexpr std::string_view kRolloutEntropy = "rollout/entropy";
inline constexpr std::string_view kRolloutDistinctFirstThoughts = "rollout/distinct_first_thoughts";
inline constexpr std::string_view kRolloutEmptyThinkRate = "rollout/empty_think_rate";
inline constexpr std::string_view kRolloutConsistency = "rollout/consistency";
inline constexpr std::string_view kRolloutClaimsChecked = "rollout/claims_checked";
inline constexpr std::string_view kRolloutLuckyRate = "rollout/lucky_rate";
inline constexpr std::string_view kRolloutTemplateShare = "rollout/template_share";
inline constexpr std::string_view kRolloutThoughtLikenessInGroup = "rollout/thought_likeness_in_group";
inline constexpr std::string_view kRolloutThoughtLikenessAcross = "rollout/thought_likeness_across";
inline constexpr std::string_view kRolloutCommonOpeningShare = "rollout/common_opening_share";
inline constexpr std::string_view kRolloutRepeatedNgrams = "rollout/repeated_ngrams";
inline constexpr std::string_view kRolloutThinkEntropy = "rollout/think_entropy";
inline constexpr std::string_view kRolloutAnswerEntropy = "rollout/answer_entropy";
inline constexpr std::string_view kRolloutEntropyByTurn = "rollout/entropy_by_turn/<turn>";
inline constexpr std::string_view kRolloutActionShare = "rollout/action_share/<action>";
inline constexpr std::string_view kRolloutFirstActionEntropy = "rollout/first_action_entropy";
inline constexpr std::string_view kRolloutFirstActionDependence = "rollout/first_action_dependence";
inline constexpr std::string_view kRolloutRounds = "rollout/rounds";
inline constexpr std::string_view kRolloutLogprobGap = "rollout/logprob_gap";
inline constexpr std::string_view kRolloutLogprobGapMax = "rollout/logprob_gap_max";
inline constexpr std::string_view kRolloutLogprobGapKl = "rollout/logprob_gap_kl";
inline constexpr std::string_view kFilterKeptGroups = "filter/kept_groups";
inline constexpr std::string_view kFilterKeptRewardStd = "filter/kept_reward_std";
inline constexpr std::string_view kFilterGatedGroups = "filter/gated_groups";
inline constexpr std::string_view kReplayShare = "replay/share";
inline constexpr std::string_view kReplayStaleness = "replay/staleness";
inline constexpr std::string_view kActorLoss = "actor/loss";
inline constexpr std::string_view kActorLossPolicy = "actor/loss_policy";
inline constexpr std::string_view kActorLossEntropy = "actor/loss_entropy";
inline constexpr std::string_view kActorLossKl = "actor/loss_kl";
inline constexpr std::string_view kActorLossLogRatio = "actor/loss_log_ratio";
inline constexpr std::string_view kActorLossLikelihood = "actor/loss_likelihood";
inline constexpr std::string_view kActorLossCrossEntropy = "actor/loss_cross_entropy";
inline constexpr std::string_view kActorEntropy = "actor/entropy";
inline constexpr std::string_view kActorGradNorm = "actor/grad_norm";
inline constexpr std::string_view kActorGradNormMax = "actor/grad_norm_max";
inline constexpr std::string_view kActorClipFractionLow = "actor/clip_fraction_low";
inline constexpr std::string_view kActorClipFractionHigh = "actor/clip_fraction_high";
inline constexpr std::string_view kActorRatioMax = "actor/ratio_max";
inline constexpr std::string_view kActorApproximateKl = "actor/approximate_kl";
inline constexpr std::string_view kActorKlToReference = "actor/kl_to_reference";
inline constexpr std::string_view kActorSkippedShare = "actor/skipped_share";
inline constexpr std::string_view kActorLearningRate = "actor/learning_rate";
inline constexpr std::string_view kCorrectionTruncatedPositive = "correction/truncated_positive";
inline constexpr std::string_view kCorrectionTruncatedNegative = "correction/truncated_negative";
inline constexpr std::string_view kCorrectionMaskedPositive = "correction/masked_positive";
inline constexpr std::string_view kCorrectionMaskedNegative = "correction/masked_negative";
inline constexpr std::string_view kCorrectionEffectiveSampleSize = "correction/effective_sample_size";
inline constexpr std::string_view kCorrectionChi2 = "correction/chi2";
inline constexpr std::string_view kCriticLoss = "critic/loss";
inline constexpr std::string_view kCriticGradNorm = "critic/grad_norm";
inline constexpr std::string_view kCriticExplainedVariance = "critic/explained_variance";
inline constexpr std::string_view kCriticValueMean = "critic/value_mean";
inline constexpr std::string_view kAdvantageMean = "advantage/mean";
inline constexpr std::string_view kAdvantageStd = "advantage/std";
inline constexpr std::string_view kAdvantageActiveShare = "advantage/active_share";
inline constexpr std::string_view kAdvantageZeroStdShare = "advantage/zero_std_share";
inline constexpr std::string_view kAdvantageLogprobPositive = "advantage/logprob_positive";
inline constexpr std::string_view kAdvantageLogprobNegative = "advantage/logprob_negative";
inline constexpr std::string_view kDiagnosticsMutualInformation = "diagnostics/mutual_information";
inline constexpr std::string_view kDiagnosticsMutualInformationCeiling = "diagnostics/mutual_information_ceiling";
inline constexpr std::string_view kDiagnosticsConditionalEntropy = "diagnostics/conditional_entropy";
inline constexpr std::string_view kDiagnosticsMarginalEntropy = "diagnostics/marginal_entropy";
inline constexpr std::string_view kDiagnosticsMutualInformationPerToken = "diagnostics/mutual_information_per_token";
inline constexpr std::string_view kDiagnosticsConditionalEntropyPerToken = "diagnostics/conditional_entropy_per_token";
inline constexpr std::string_view kDiagnosticsRetrievalAccuracy = "diagnostics/retrieval_accuracy";
inline constexpr std::string_view kDiagnosticsRetrievalAccuracyAtK = "diagnostics/retrieval_accuracy_at_k";
inline constexpr std::string_view kDiagnosticsRetrievalK = "diagnostics/retrieval_k";
inline constexpr std::string_view kDiagnosticsRetrievalCeiling = "diagnostics/retrieval_ceiling";
inline constexpr std::string_view kDiagnosticsRetrievalCeilingAtK = "diagnostics/retrieval_ceiling_at_k";
inline constexpr std::string_view kDiagnosticsKlFromStart = "diagnostics/kl_from_start";
inline constexpr std::string_view kDiagnosticsGradNormLowStd = "diagnostics/grad_norm_low_std";
inline constexpr std::string_view kDiagnosticsGradNormMiddleStd = "diagnostics/grad_norm_middle_std";
inline constexpr std::string_view kDiagnosticsGradNormHighStd = "diagnostics/grad_norm_high_std";
inline constexpr std::string_view kWarmStartLoss = "warm_start/loss";
inline constexpr std::string_view kTimeRollout = "time/rollout";
inline constexpr std::string_view kTimeUpdate = "time/update";
inline constexpr std::string_view kTimeDiagnostics = "time/diagnostics";
inline constexpr std::string_view kTimeWrite = "time/write";
inline constexpr std::string_view kTimeEvaluation = "time/evaluation";
inline constexpr std::string_view kTimeIteration = "time/iteration";
inline constexpr std::string_view kThroughputGeneratedTokensPerSecond = "throughput/generated_tokens_per_second";
inline constexpr std::string_view kThroughputTrainedTokensPerSecond = "throughput/trained_tokens_per_second";
inline constexpr std::string_view kMemoryPeakBytes = "memory/peak_bytes";
inline constexpr std::string_view kMemoryDevicePeakBytes = "memory/device_peak_bytes";

// Returns one metric of a family: family_metric("rollout/action_share/<action>", "Left") is
// "rollout/action_share/Left".
inline std::string family_metric(std::string_view family, std::string_view name) {
  return std::string(family.substr(0, family.find('<'))) + std::string(name);
}

struct Description {
  std::string_view name;
  std::string_view unit;  // empty for dimensionless numbers
  std::string_view meaning;
};

// Metrics of the `iteration` event, as users read them. Core's list and docs/formats/metrics.md are generated from it.
inline constexpr std::array kIterationMetrics{
    Description{kRolloutSuccessRate, "share", "episodes that succeeded"},
    Description{
        kRolloutEnvironmentFailureRate, "share",
        "episodes in which an environment or the reward program failed at least once; absent without environments "
        "of type `process` and without a reward program"},
    Description{kRolloutVoidRate, "share",
                "void episodes, in which an environment or the reward program failed twice; metrics other than this "
                "one and `rollout/environment_failure_rate` exclude them; absent without environments of type "
                "`process` and without a reward program"},
    Description{kRolloutRewardMean, "reward", "mean episode score, including penalties"},
    Description{
        kRolloutRewardTerm, "reward",
        "weighted reward term, summed over the turns of an episode: `environment`, `format`, and each of "
        "`step_cost`, `success`, `length`, `grounding` and `faithfulness` whose weight is not 0, and those of the "
        "reward program; they add up to `rollout/reward_mean`"},
    Description{kRolloutRewardMaxInGroup, "reward", "best score in the group, averaged over groups"},
    Description{kRolloutRewardStdInGroup, "reward",
                "unbiased standard deviation of scores in the group, averaged over groups; absent for group size 1"},
    Description{kRolloutRewardStdByAction, "reward",
                "Bandit: in-group reward std after each score is replaced by the mean score of the same choice (an "
                "arm, or none) in the rollout, which removes payout noise; absent without arms and for group size 1"},
    Description{kRolloutZeroStdGroups, "share",
                "groups in which all scores are equal, up to rounding (1e-9 times the larger of 1 and the score); "
                "absent for group size 1"},
    Description{kRolloutZeroStdSolved, "share",
                "groups with zero reward std in which every episode succeeded, as a share of all groups; absent for "
                "group size 1"},
    Description{
        kRolloutZeroStdFailed, "share",
        "groups with zero reward std in which every episode failed, as a share of all groups; absent for group size 1"},
    Description{kRolloutPassAtN, "share", "groups with at least one success"},
    Description{kRolloutRandomSuccessLogprob, "nats",
                "level difficulty: log probability (at least log 0.001) that random actions solve the level within the "
                "episode's action limit, averaged over groups; higher is easier. Absent for stochastic environments "
                "(Bandit, slippery ice, `process`), for WebShop, and for levels with too many states to enumerate"},
    Description{kRolloutTurns, "turns", "turns per episode"},
    Description{kRolloutActions, "actions", "executed actions per episode"},
    Description{kRolloutFormatValidRate, "share", "turns whose response had all required blocks"},
    Description{kRolloutActionValidRate, "share", "turns in which no action was dropped or missing"},
    Description{kRolloutActionEffectiveRate, "share", "executed actions that changed the state"},
    Description{kRolloutResponseTokens, "tokens", "sampled tokens per episode"},
    Description{kRolloutThinkTokens, "tokens", "tokens sampled before `</think>`, per turn; absent without reasoning"},
    Description{kRolloutTruncatedRate, "share", "turns truncated by the token limit"},
    Description{kRolloutStateTruncatedRate, "share",
                "turns whose state was truncated to `max_state_tokens`; "
                "absent without a limit"},
    Description{kRolloutEntropy, "nats", "mean over sampled tokens, from logits / temperature"},
    Description{kRolloutDistinctFirstThoughts, "share",
                "distinct first-turn reasoning texts (the whole response where it is invalid) divided by group size, "
                "averaged over groups; absent without reasoning and for group size 1"},
    Description{kRolloutEmptyThinkRate, "share",
                "turns with empty reasoning, among turns with a valid response; absent without reasoning"},
    Description{
        kRolloutConsistency, "share",
        "checked claims of the reasoning that are true, about the state or about the actions that follow (rules "
        "in docs/algorithms.md); absent without checked claims"},
    Description{kRolloutClaimsChecked, "claims",
                "claims that the environment's rules could check, per turn with reasoning; absent without reasoning "
                "and for environments without rules"},
    Description{kRolloutLuckyRate, "share",
                "successful episodes with a false claim, among successful episodes with checked claims; absent without "
                "such episodes"},
    Description{
        kRolloutTemplateShare, "share",
        "episodes with the most common first reasoning, across all levels. Near 1, nearly all episodes have the same "
        "text, which the `iteration` event contains. Absent without reasoning. First reasoning is defined as in "
        "`rollout/distinct_first_thoughts`"},
    Description{kRolloutThoughtLikenessInGroup, "share",
                "mean Jaccard similarity of first reasoning between two episodes of a group, over sets of word 3-grams "
                "(the whole text where it is shorter), averaged over groups; each episode is compared with at most the "
                "next 64; absent without reasoning and for group size 1"},
    Description{kRolloutThoughtLikenessAcross, "share",
                "mean Jaccard similarity of first reasoning between episodes on different levels, as in "
                "`rollout/thought_likeness_in_group`; each group is compared with at most the next 64 groups; absent "
                "without reasoning and where all levels are equal"},
    Description{kRolloutCommonOpeningShare, "share",
                "first reasoning texts that begin with the most common three words; absent without reasoning"},
    Description{kRolloutRepeatedNgrams, "share",
                "token 4-grams that occurred earlier in the same response, averaged over responses"},
    Description{kRolloutThinkEntropy, "nats",
                "mean over sampled tokens up to and including the one that completes `</think>`, from logits / "
                "temperature; absent without reasoning"},
    Description{kRolloutAnswerEntropy, "nats",
                "mean over sampled tokens after `</think>`, from logits / temperature; absent without reasoning"},
    Description{kRolloutEntropyByTurn, "nats",
                "mean over the sampled tokens of this turn, from logits / temperature; turns 1 to 8"},
    Description{kRolloutActionShare, "share",
                "executed actions with this name; absent for environments without named actions"},
    Description{kRolloutFirstActionEntropy, "nats",
                "H(a) of the first executed action of an episode, per environment (a Bandit arm counts by its "
                "position; an episode without an action counts as a separate choice); absent without named actions"},
    Description{kRolloutFirstActionDependence, "nats",
                "I(a; level) = H(a) - mean over groups of H(a given the group), with the Miller-Madow correction for "
                "small samples, at least 0: how much the first action depends on the level; absent if a group has "
                "a single episode, or if no environment has several groups"},
    Description{kRolloutRounds, "rounds",
                "rollouts of the iteration, 1 to 1 + `rollout.extra_rounds`; absent if that is 0"},
    Description{kRolloutLogprobGap, "nats",
                "mean absolute difference between update (before its first step) and rollout log-probabilities, over "
                "the tokens of the first mini-batch, without skipped and replayed samples; 0 on CPU, and on GPU with "
                "`exactness` `exact`"},
    Description{kRolloutLogprobGapMax, "nats",
                "largest absolute difference between update and rollout log-probabilities, over the tokens of "
                "`rollout/logprob_gap`"},
    Description{kRolloutLogprobGapKl, "nats",
                "KL(rollout || update), estimated on the tokens of `rollout/logprob_gap` (k3)"},
    Description{kFilterKeptGroups, "groups", "groups kept for training, over all environments"},
    Description{kFilterKeptRewardStd, "reward",
                "mean in-group reward std of kept groups; absent for group size 1 and if no group is kept"},
    Description{kFilterGatedGroups, "groups",
                "kept and replayed groups that `advantage.gate` removed; absent if the gate is 0"},
    Description{kReplayShare, "share", "episodes of the update that are replayed; absent without replay"},
    Description{kReplayStaleness, "iterations",
                "mean iterations since replayed episodes were sampled; absent without any"},
    Description{kActorLoss, "", "mean over optimizer steps; the sum of the terms whose names begin with `actor/loss_`"},
    Description{kActorLossPolicy, "", "term of the loss: the policy objective"},
    Description{kActorLossEntropy, "", "term of the loss: the entropy bonus; absent if its coefficient is 0"},
    Description{kActorLossKl, "",
                "term of the loss: KL to the reference; absent if `kl.coefficient` is 0 or `kl.placement` is `reward`"},
    Description{kActorLossLogRatio, "", "term of the loss: squared log-ratios; absent if the penalty is 0"},
    Description{kActorLossLikelihood, "",
                "term of the loss: lost likelihood of good tokens (LLDS); absent if its coefficient is 0"},
    Description{kActorLossCrossEntropy, "",
                "term of the loss: cross-entropy of successful episodes (VAPO); absent if its coefficient is 0"},
    Description{kActorEntropy, "nats", "mean over trained tokens, without skipped samples"},
    Description{kActorGradNorm, "", "global gradient norm before clipping, mean over optimizer steps"},
    Description{kActorGradNormMax, "", "global gradient norm before clipping, maximum over optimizer steps"},
    Description{kActorClipFractionLow, "share", "trained tokens clipped at the lower bound (`policy_loss.clip_low`)"},
    Description{kActorClipFractionHigh, "share", "trained tokens clipped at the upper bound (`policy_loss.clip_high`)"},
    Description{kActorRatioMax, "",
                "largest ratio of update to rollout probability of a trained token, over optimizer steps; 1 if the "
                "policy did not change since the rollout, up to rounding with `exactness` `fast`"},
    Description{
        kActorApproximateKl, "nats",
        "rollout minus update log-probability (with corrections: before the update minus update), mean over trained "
        "tokens, without skipped samples"},
    Description{
        kActorKlToReference, "nats",
        "KL to the reference by `kl.estimator`, from log-probabilities at sampling, mean over the tokens of kept and "
        "replayed groups; absent where `kl.coefficient` is 0"},
    Description{
        kActorSkippedShare, "share",
        "skipped samples (episodes, or parts of them with `rollout.context_turns`): all their advantages are 0, so "
        "they have no gradient; 0 with a critic or another term in the loss"},
    Description{kActorLearningRate, "", "learning rate of the last optimizer step"},
    Description{kCorrectionTruncatedPositive, "share",
                "tokens whose importance weight was truncated, among those with an advantage above 0; absent without "
                "corrections"},
    Description{kCorrectionTruncatedNegative, "share",
                "tokens whose importance weight was truncated, among those with an advantage below 0; absent without "
                "corrections"},
    Description{kCorrectionMaskedPositive, "share",
                "tokens that importance weights or the trust region removed from the policy term, among those with an "
                "advantage above 0; absent without corrections"},
    Description{kCorrectionMaskedNegative, "share",
                "tokens that importance weights or the trust region removed from the policy term, among those with an "
                "advantage below 0; absent without corrections"},
    Description{kCorrectionEffectiveSampleSize, "share",
                "effective sample size of the correction weights w: (sum of w)² / (tokens * sum of w²); absent without "
                "corrections"},
    Description{kCorrectionChi2, "",
                "mean of ρ² - 1, where ρ is the ratio of the probabilities before the update and at sampling: the χ² "
                "divergence per token; absent without corrections"},
    Description{kCriticLoss, "reward²", "mean over optimizer steps; absent without a critic"},
    Description{kCriticGradNorm, "",
                "global gradient norm before clipping, mean over optimizer steps; absent without a critic"},
    Description{
        kCriticExplainedVariance, "share",
        "1 - variance(return - value) / variance(return) over tokens whose value is trained, before the update: 1 is a "
        "perfect critic, 0 predicts only the mean; absent without a critic and if all returns are equal"},
    Description{kCriticValueMean, "reward",
                "mean value over tokens whose value is trained, before the update; absent without a critic"},
    Description{kAdvantageMean, "", "mean over trained tokens, before whitening"},
    Description{kAdvantageStd, "", "standard deviation over trained tokens, before whitening"},
    Description{kAdvantageActiveShare, "share", "trained tokens with a non-zero advantage, before whitening"},
    Description{kAdvantageZeroStdShare, "share",
                "share of the summed absolute advantages that comes from groups with zero reward std, after whitening: "
                "update weight without a learning signal; absent if all advantages are 0, and for group size 1"},
    Description{
        kAdvantageLogprobPositive, "nats",
        "mean log-probability at sampling of tokens with an advantage (after whitening) above 0, without replayed "
        "samples; if it and "
        "`advantage/logprob_negative` sink together, good answers become unlikely (LLDS)"},
    Description{
        kAdvantageLogprobNegative, "nats",
        "mean log-probability at sampling of tokens with an advantage (after whitening) below 0, without replayed "
        "samples"},
    Description{kDiagnosticsMutualInformation, "nats",
                "I(X; Z) of prompts X and first reasoning Z, per reasoning text: how much better its own prompt "
                "explains it than the average prompt (RAGEN-2). All `diagnostics/` metrics are computed every "
                "`diagnostics.every` iterations, before the update, on about `diagnostics.samples` episodes, limited "
                "to the larger of 8 and an eighth of the rollout. With `diagnostics.probe`, those of reasoning use "
                "fixed levels instead of the rollout. Absent without reasoning and if all prompts are equal"},
    Description{kDiagnosticsMutualInformationCeiling, "nats",
                "upper bound of the mutual information: log of the number of distinct prompts (at most 8); absent "
                "without reasoning and if all prompts are equal"},
    Description{kDiagnosticsConditionalEntropy, "nats",
                "H(Z given X) per reasoning text: negative mean log-likelihood given its own prompt; absent without "
                "reasoning and if all prompts are equal"},
    Description{kDiagnosticsMarginalEntropy, "nats",
                "H(Z) per reasoning text: negative mean log of its average likelihood over all prompts; absent without "
                "reasoning and if all prompts are equal"},
    Description{kDiagnosticsMutualInformationPerToken, "nats",
                "I(X; Z) divided by the reasoning tokens; absent without reasoning and if all prompts are equal"},
    Description{kDiagnosticsConditionalEntropyPerToken, "nats",
                "H(Z given X) divided by the reasoning tokens; absent without reasoning and if all prompts are equal"},
    Description{kDiagnosticsRetrievalAccuracy, "share",
                "reasoning texts that are most likely given their own prompt; tied prompts share the credit; absent "
                "without reasoning and if all prompts are equal"},
    Description{kDiagnosticsRetrievalAccuracyAtK, "share",
                "reasoning texts whose own prompt is among the k most likely; absent without reasoning and for fewer "
                "than three prompts"},
    Description{kDiagnosticsRetrievalK, "prompts",
                "k of the retrieval accuracy at k: 2; absent without reasoning and for fewer than three prompts"},
    Description{kDiagnosticsRetrievalCeiling, "share",
                "best possible retrieval accuracy: where several prompts share a reasoning text, only its most "
                "frequent prompt can be retrieved; absent without reasoning and if all prompts are equal"},
    Description{kDiagnosticsRetrievalCeilingAtK, "share",
                "best possible retrieval accuracy at k: where prompts share a reasoning text, only its k most frequent "
                "prompts can be retrieved; absent without reasoning and for fewer than three prompts"},
    Description{kDiagnosticsKlFromStart, "nats",
                "KL divergence of the policy from the weights the run started with, per trained token of a sample of "
                "episodes, or of all trained episodes if the KL reference is the start (k3, at most 10); absent if "
                "those weights are missing when the "
                "run is resumed"},
    Description{kDiagnosticsGradNormLowStd, "",
                "gradient norm of the policy objective, averaged over tokens, without entropy bonus, KL and "
                "corrections, on a sample of the third of "
                "trained groups with the lowest reward std; absent for fewer than three groups"},
    Description{kDiagnosticsGradNormMiddleStd, "",
                "gradient norm of the policy objective, averaged over tokens, without entropy bonus, KL and "
                "corrections, on a sample of the middle third "
                "of trained groups by reward std; absent for fewer than three groups"},
    Description{kDiagnosticsGradNormHighStd, "",
                "gradient norm of the policy objective, averaged over tokens, without entropy bonus, KL and "
                "corrections, on a sample of the third of "
                "trained groups with the highest reward std; absent for fewer than three groups"},
    Description{kWarmStartLoss, "nats",
                "mean cross-entropy per response token over the iteration's steps (task `warm_start`)"},
    Description{kTimeRollout, "s", "playing the episodes; no `time/` metric includes pauses"},
    Description{kTimeUpdate, "s",
                "from the end of the rollout to that of the iteration, without diagnostics: filter, log-probabilities, "
                "advantages, optimizer steps, and waiting for the episodes to be written"},
    Description{kTimeDiagnostics, "s", "computing `diagnostics/`; absent if not computed"},
    Description{kTimeWrite, "s", "serializing, compressing and flushing episodes, in a thread beside the update"},
    Description{kTimeEvaluation, "s", "playing and writing an evaluation set; part of `evaluation` events"},
    Description{kTimeIteration, "s", "rollout, update and diagnostics, without evaluations and checkpoints"},
    Description{kThroughputGeneratedTokensPerSecond, "tokens/s", "sampled tokens / `time/rollout`"},
    Description{
        kThroughputTrainedTokensPerSecond, "tokens/s",
        "tokens of the update's samples (including context and skipped samples, counted per epoch) / `time/update`"},
    Description{kMemoryPeakBytes, "bytes", "peak resident memory of the process"},
    Description{
        kMemoryDevicePeakBytes, "bytes",
        "largest GPU memory in use at the end of any iteration of this process, including other programs; absent "
        "on CPU"},
};

inline constexpr std::string_view kRolloutPrefix = "rollout/";

// Returns whether a metric is also reported per environment when several are trained: all rollout metrics but those of
// the whole rollout.
constexpr bool has_environment_breakdown(std::string_view name) {
  return name.starts_with(kRolloutPrefix) && !name.starts_with(kRolloutLogprobGap) && name != kRolloutRounds &&
         name != kRolloutEnvironmentFailureRate && name != kRolloutVoidRate;
}

// rollout/turns -> rollout/<label>/turns
inline std::string environment_metric(std::string_view name, std::string_view label) {
  return std::string(kRolloutPrefix) + std::string(label) + "/" + std::string(name.substr(kRolloutPrefix.size()));
}

// Metrics of the `evaluation` event. The full names begin with "evaluation/<label>/".
inline constexpr std::array kEvaluationMetrics{
    Description{"success_rate", "share", "solved fixed levels"},
    Description{"success_rate_low", "share", "lower bound of the 95 % Wilson interval"},
    Description{"success_rate_high", "share", "upper bound of the 95 % Wilson interval"},
    Description{"reward_mean", "reward", "mean episode score, including penalties"},
    Description{"turns", "turns", "turns per episode"},
    Description{"response_tokens", "tokens", "sampled tokens per episode"},
    Description{"format_valid_rate", "share", "turns whose response had all required blocks"},
};

}  // namespace starpo::metric
