import { z } from 'zod';
import { Failure } from '../contract/failure.ts';

const weight = z.number().min(0).max(2);
/** Weight of each signal in the risk score, by detector name. */
const weightsSchema = z.strictObject({
  reward_std_falls: weight,
  groups_fail: weight,
  entropy_falls: weight,
  entropy_rises: weight,
  entropy_rebounds: weight,
  template_share_rises: weight,
  single_reasoning: weight,
  reasoning_similar: weight,
  reasoning_shortens: weight,
  actions_ignore_state: weight,
  actions_scatter: weight,
  episodes_grow: weight,
  levels_lost: weight,
  format_falls: weight,
  responses_grow: weight,
  updates_clip: weight,
  steps_long: weight,
  gradient_grows: weight,
  gradient_spikes: weight,
  success_falls: weight,
});

/**
 * All parameters of the detectors. Fractions are relative to a run's own baseline (the median of its first iterations) or peak, so none depends on the scale of
 * rewards.
 */
export const thresholdsSchema = z.strictObject({
  /** Iterations of the moving average. */
  window: z.number().int().min(1).max(50),
  /** Number of first values whose median is the baseline. */
  baseline: z.number().int().min(3).max(100),
  /** Consecutive iterations until a signal turns on, and off. */
  on_after: z.number().int().min(1).max(100),
  off_after: z.number().int().min(1).max(200),
  /** Hysteresis: fraction of the distance from threshold to baseline that a value must recover before the signal turns off. */
  hysteresis: z.number().min(0).max(0.9),

  /** In-group reward std: fraction of the larger of baseline and peak, and of the reward range. */
  reward_std_share: z.number().min(0.01).max(0.95),
  reward_std_floor: z.number().min(0).max(0.2),
  /** All-fail groups: increase of their share over the baseline. */
  failed_groups: z.number().min(0.05).max(1),
  /** Entropy: multiples of the baseline. */
  entropy_low: z.number().min(0.01).max(0.95),
  entropy_high: z.number().min(1.05).max(20),
  /** Entropy rebound: multiple of the lowest value. */
  entropy_rebound: z.number().min(1.05).max(20),
  /** Share of episodes with the most common reasoning. */
  template_share: z.number().min(0.3).max(1),
  /** The same share for a single remaining reasoning text, and for how many iterations. */
  single_reasoning: z.number().min(0.5).max(1),
  single_reasoning_for: z.number().int().min(1).max(200),
  /** Share of distinct first reasoning texts. */
  distinct_reasoning: z.number().min(0.01).max(0.9),
  /** Reasoning length: fraction of the baseline. */
  reasoning_length: z.number().min(0.05).max(0.95),
  /** Turns per episode: multiple of the lowest value. */
  episode_growth: z.number().min(1.05).max(10),
  /** Share of levels that any episode solves: fraction of its peak. */
  solved_levels: z.number().min(0.05).max(0.95),
  /** Clip fraction. */
  clipped: z.number().min(0.001).max(0.9),
  /** Step size (learning rate × epochs): steady and too large. Both depend on the model. */
  steady_steps: z.number().min(0).max(1),
  long_steps: z.number().min(0).max(1),
  /** Mutual information of first action and level: fraction of its peak. */
  action_dependence: z.number().min(0.01).max(0.95),
  /** Mutual information of reasoning and level: fraction of its ceiling. */
  mutual_information: z.number().min(0.01).max(0.9),
  /** Drop of the rate of well-formed responses below its peak. */
  format_drop: z.number().min(0.005).max(0.9),
  /** Response length: multiple of the baseline. */
  length_change: z.number().min(1.1).max(20),
  /** Gradient norm: multiple of the baseline. */
  gradient_growth: z.number().min(1.1).max(100),
  /** Gradient spike: multiple of the running median, and iterations until the signal can turn off. */
  gradient_spike: z.number().min(1.2).max(100),
  gradient_memory: z.number().int().min(1).max(200),

  /** Success: relative drop below the peak that counts as falling. */
  success_falls: z.number().min(0.02).max(0.9),
  /** Minimum drop in standard errors. */
  success_errors: z.number().min(0).max(5),
  success_lost: z.number().min(0.1).max(0.99),
  /** Iterations that success must stay lost before the run counts as collapsed. */
  lost_for: z.number().int().min(1).max(200),
  /** Success from which a run is solved. */
  solved: z.number().min(0.5).max(1),
  /** Iterations of the trend window, and the rise between its halves, relative to the peak, above which a run still learns. */
  stalled_for: z.number().int().min(6).max(500),
  learning: z.number().min(0).max(0.9),

  /** Weights of the risk score. 1 or more triggers a warning. */
  weights: weightsSchema,
  /** Calm iterations before the state moves down. */
  calm_for: z.number().int().min(1).max(200),
});
export type Thresholds = z.infer<typeof thresholdsSchema>;

/** Built-in thresholds. */
export const shippedThresholds: Thresholds = {
  window: 6,
  baseline: 12,
  on_after: 3,
  off_after: 2,
  hysteresis: 0.2,
  reward_std_share: 0.5,
  reward_std_floor: 0.03,
  failed_groups: 0.29,
  entropy_low: 0.4,
  entropy_high: 1.6,
  entropy_rebound: 2,
  template_share: 0.85,
  single_reasoning: 0.97,
  single_reasoning_for: 20,
  distinct_reasoning: 0.15,
  reasoning_length: 0.25,
  episode_growth: 1.3,
  solved_levels: 0.7,
  clipped: 0.01,
  steady_steps: 1e-4,
  long_steps: 8e-4,
  action_dependence: 0.5,
  mutual_information: 0.4,
  format_drop: 0.08,
  length_change: 1.8,
  gradient_growth: 2,
  gradient_spike: 4,
  gradient_memory: 25,
  success_falls: 0.25,
  success_errors: 1,
  success_lost: 0.5,
  lost_for: 10,
  solved: 0.9,
  stalled_for: 40,
  learning: 0.08,
  weights: {
    reward_std_falls: 0,
    groups_fail: 0,
    entropy_falls: 0,
    entropy_rises: 0.081,
    entropy_rebounds: 0,
    template_share_rises: 0,
    single_reasoning: 0,
    reasoning_similar: 0,
    reasoning_shortens: 0.016,
    actions_ignore_state: 0,
    actions_scatter: 0.3,
    episodes_grow: 0.24,
    levels_lost: 0.23,
    format_falls: 0.22,
    responses_grow: 0,
    updates_clip: 0,
    steps_long: 0.48,
    gradient_grows: 0,
    gradient_spikes: 0.033,
    success_falls: 0,
  },
  calm_for: 25,
};

/** Throws `thresholds_invalid` with the first problem. */
export function parseThresholds(value: unknown): Thresholds {
  const parsed = thresholdsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.code === 'unrecognized_keys' ? issue.keys[0] : issue.path.join('.');
  throw new Failure(
    'thresholds_invalid',
    `Invalid threshold ${path || 'list'}: ${issue.message}.`,
    'Delete echo-trap.json from the data folder to use the built-in thresholds, or run `starpo calibrate --fit` from a checkout.',
  );
}
