import { z } from 'zod';
import { Failure } from '../contract/failure.ts';

const point = z.number().min(0).max(2);
/** What each sign counts for at its threshold, by the names of the detectors. */
const pointsSchema = z.strictObject({
  spread_falls: point,
  groups_fail: point,
  entropy_falls: point,
  entropy_rises: point,
  entropy_rebounds: point,
  template_spreads: point,
  one_thought: point,
  thoughts_alike: point,
  thoughts_shorten: point,
  moves_lose_board: point,
  moves_scatter: point,
  episodes_grow: point,
  boards_lost: point,
  format_falls: point,
  replies_grow: point,
  updates_clip: point,
  steps_long: point,
  gradient_grows: point,
  gradient_spikes: point,
  success_falls: point,
});

/**
 * Every number of the detectors, in one place. Shares are of a run's own baseline (the median of its first iterations) or of its peak, so that none depends on
 * an environment's scale of rewards.
 */
export const thresholdsSchema = z.strictObject({
  /** Iterations that a value is averaged over. */
  window: z.number().int().min(1).max(50),
  /** Known iterations whose median is a baseline. */
  baseline: z.number().int().min(3).max(100),
  /** Iterations in a row until a signal comes on, and until it goes off. */
  on_after: z.number().int().min(1).max(100),
  off_after: z.number().int().min(1).max(200),
  /** How much of the way back from its threshold to its baseline a signal must go before it counts as off. */
  hysteresis: z.number().min(0).max(0.9),

  /** Spread in groups: share of the larger of baseline and peak, and of the environment's range of rewards. */
  spread_share: z.number().min(0.01).max(0.95),
  spread_floor: z.number().min(0).max(0.2),
  /** Share of groups with no spread in which nobody succeeds, above its baseline. */
  failed_groups: z.number().min(0.05).max(1),
  /** Entropy: shares of the baseline. */
  entropy_low: z.number().min(0.01).max(0.95),
  entropy_high: z.number().min(1.05).max(20),
  /** Entropy: how many times its lowest it may rise again. */
  entropy_rebound: z.number().min(1.05).max(20),
  /** Share of episodes with the commonest thought. */
  template_share: z.number().min(0.3).max(1),
  /** The same share where only one thought is left, and for how many iterations. */
  one_thought: z.number().min(0.5).max(1),
  one_thought_for: z.number().int().min(1).max(200),
  /** Distinct first thoughts. */
  distinct_thoughts: z.number().min(0.01).max(0.9),
  /** Length of thoughts: share of the baseline. */
  thought_length: z.number().min(0.05).max(0.95),
  /** Turns of an episode: how many times the fewest. */
  episode_growth: z.number().min(1.05).max(10),
  /** Share of boards that anybody solves: share of its peak. */
  boards: z.number().min(0.05).max(0.95),
  /** Share of tokens held back by the clip. */
  clipped: z.number().min(0.001).max(0.9),
  /** Learning rate times epochs: what is steady, and what is long. They are a model's own: what is long for a small one is far too long for a large one. */
  steady_steps: z.number().min(0).max(1),
  long_steps: z.number().min(0).max(1),
  /** Dependence of the first move on the board: share of its peak. */
  move_dependence: z.number().min(0.01).max(0.95),
  /** Mutual information of thought and board: share of its ceiling. */
  mutual_information: z.number().min(0.01).max(0.9),
  /** Drop of the rate of valid replies under its peak. */
  format_drop: z.number().min(0.005).max(0.9),
  /** Length of replies: how many times the baseline, or its inverse. */
  length_change: z.number().min(1.1).max(20),
  /** Gradient norm: how many times the baseline its mean may grow. */
  gradient_growth: z.number().min(1.1).max(100),
  /** Gradient norm: how many times the running median, and iterations that a spike is remembered. */
  gradient_spike: z.number().min(1.2).max(100),
  gradient_memory: z.number().int().min(1).max(200),

  /** Success under its own peak, as shares of the peak: where it counts as falling, and as fallen. */
  success_falls: z.number().min(0.02).max(0.9),
  /** Standard errors that it must be under the peak besides. */
  success_errors: z.number().min(0).max(5),
  success_lost: z.number().min(0.1).max(0.99),
  /** Iterations that success must stay lost. */
  lost_for: z.number().int().min(1).max(200),
  /** Success, and its share of the peak, from which a run is solved. */
  solved: z.number().min(0.5).max(1),
  /** Iterations over which success is seen to rise or not, and the rise between their halves, as a share of the peak, from which a run still learns. */
  stalled_for: z.number().int().min(6).max(500),
  learning: z.number().min(0).max(0.9),

  /** A warning takes a risk of one point. */
  points: pointsSchema,
  /** Iterations of a lower level until a state is left downwards. */
  calm_for: z.number().int().min(1).max(200),
});
export type Thresholds = z.infer<typeof thresholdsSchema>;

/** As they come with the app. */
export const shippedThresholds: Thresholds = {
  window: 6,
  baseline: 12,
  on_after: 3,
  off_after: 2,
  hysteresis: 0.2,
  spread_share: 0.5,
  spread_floor: 0.03,
  failed_groups: 0.29,
  entropy_low: 0.4,
  entropy_high: 1.6,
  entropy_rebound: 2,
  template_share: 0.85,
  one_thought: 0.97,
  one_thought_for: 20,
  distinct_thoughts: 0.15,
  thought_length: 0.25,
  episode_growth: 1.3,
  boards: 0.7,
  clipped: 0.01,
  steady_steps: 1e-4,
  long_steps: 8e-4,
  move_dependence: 0.5,
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
  points: {
    spread_falls: 0,
    groups_fail: 0,
    entropy_falls: 0,
    entropy_rises: 0.081,
    entropy_rebounds: 0,
    template_spreads: 0,
    one_thought: 0,
    thoughts_alike: 0,
    thoughts_shorten: 0.016,
    moves_lose_board: 0,
    moves_scatter: 0.3,
    episodes_grow: 0.24,
    boards_lost: 0.23,
    format_falls: 0.22,
    replies_grow: 0,
    updates_clip: 0,
    steps_long: 0.48,
    gradient_grows: 0,
    gradient_spikes: 0.033,
    success_falls: 0,
  },
  calm_for: 25,
};

/** Throws `thresholds_invalid`, naming the first that is wrong. */
export function parseThresholds(value: unknown): Thresholds {
  const parsed = thresholdsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.code === 'unrecognized_keys' ? issue.keys[0] : issue.path.join('.');
  throw new Failure(
    'thresholds_invalid',
    `The threshold ${path || 'list'} can't be used: ${issue.message}.`,
    'Delete echo-trap.json from the data folder to go back to the thresholds of the app, or make it again with `starpo calibrate --fit`, from a checkout.',
  );
}
