import {
  againstStart,
  baselineOf,
  detector,
  high,
  iterations,
  low,
  peakOf,
  smooth,
  smoothAdjusted,
  threshold,
} from '../detector.ts';
import { entropyRise } from './policy.ts';

/** Detectors on how reasoning and first actions depend on the level. */

/** The same reasoning on every level: RAGEN's Echo Trap and RAGEN-2's template collapse. */
export const templateShareRises = detector({
  name: 'template_share_rises',
  title: 'Template reasoning spreads',
  meaning: 'Nearly all episodes start with the same reasoning on every level.',
  regime: 'template',
  family: 'reasoning',
  weight: 0,
  thresholds: { template_share: threshold(0.85, 0.3, 1) },
  read(view, memory, own) {
    const series = 'rollout/template_share';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    // A run that starts with a template needs a higher threshold.
    const limit = Math.max(own.template_share, Math.min(1, baseline + 0.1));
    return high(view, series, value, Math.min(baseline, limit), limit);
  },
});

/** Collapsed reasoning: no known setting restores its variety. */
export const singleReasoning = detector({
  name: 'single_reasoning',
  title: 'Identical first reasoning in nearly all episodes',
  meaning: 'Nearly all episodes have started with the same reasoning for many iterations. Variety rarely returns.',
  regime: 'template',
  family: 'reasoning',
  weight: 0,
  allOrNothing: true,
  thresholds: {
    single_reasoning: threshold(0.97, 0.5, 1),
    single_reasoning_for: iterations(20, 1, 200),
  },
  onAfter: ({ single_reasoning_for }) => single_reasoning_for,
  read(view, memory, own) {
    const series = 'rollout/template_share';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    return high(view, series, value, Math.min(baseline, 0.9), own.single_reasoning);
  },
});

/** The number of distinct reasoning texts of a group, divided by its size. */
export const reasoningSimilar = detector({
  name: 'reasoning_similar',
  title: 'Reasoning becomes uniform',
  meaning: 'Episodes of a group start with the same few reasoning texts, which leaves little to learn from.',
  regime: 'template',
  family: 'reasoning',
  weight: 0,
  thresholds: { distinct_reasoning: threshold(0.15, 0.01, 0.9) },
  read(view, memory, own) {
    const series = 'rollout/distinct_first_thoughts';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    return low(view, series, value, baseline, Math.min(own.distinct_reasoning, 0.8 * baseline));
  },
});

/** RAGEN-2: the mutual information I(X;Z) falls, while the entropy H(Z|X) may look healthy. */
export const reasoningIgnoresState = detector({
  name: 'reasoning_ignores_state',
  title: 'Reasoning ignores the level',
  meaning: 'Reasoning no longer depends on the level, however varied it reads.',
  regime: 'template',
  family: 'reasoning',
  reference: 'best',
  thresholds: { mutual_information: threshold(0.4, 0.01, 0.9) },
  onAfter: () => 1,
  read(view, memory, own) {
    const series = 'diagnostics/mutual_information';
    const ceiling = smooth(view, 'diagnostics/mutual_information_ceiling', 3);
    const value = smooth(view, series, 3) / ceiling;
    const baseline = peakOf(memory, 'peak', value);
    if (!Number.isFinite(value) || !(baseline > own.mutual_information)) return null;
    return low(view, series, value, baseline, own.mutual_information);
  },
});

/** Mutual information of the first action and the level, in nats. */
export const actionsIgnoreState = detector({
  name: 'actions_ignore_state',
  title: 'Actions ignore the level',
  meaning: 'The first action depends less and less on the level: the policy follows one plan on every level.',
  regime: 'template',
  family: 'actions',
  reference: 'best',
  weight: 0,
  thresholds: { action_dependence: threshold(0.5, 0.01, 0.95) },
  read(view, memory, own) {
    const series = 'rollout/first_action_dependence';
    const value = smooth(view, series, 2 * view.parameters.window);
    const baseline = peakOf(memory, 'peak', value);
    // Below 0.1 nats the first action never depended on the level.
    if (Number.isNaN(value) || !(baseline > 0.1)) return null;
    return low(view, series, value, baseline, own.action_dependence * baseline);
  },
});

export const reasoningShortens = detector({
  name: 'reasoning_shortens',
  title: 'Reasoning shortens',
  meaning: 'Reasoning is much shorter than at the start and may leave out details of the level.',
  regime: 'template',
  family: 'format',
  weight: 0.016,
  notInPaper: true,
  thresholds: { reasoning_length: threshold(0.25, 0.05, 0.95) },
  read: (view, memory, own) => againstStart(view, memory, 'rollout/think_tokens', own.reasoning_length),
});

/** Entropy of the answer tokens. If it rises, reasoning no longer determines the action. */
export const actionsScatter = detector({
  name: 'actions_scatter',
  title: 'Actions become random',
  meaning: 'The entropy of the answer tokens is far above its baseline: actions become random.',
  family: 'actions',
  weight: 0.3,
  notInPaper: true,
  thresholds: entropyRise,
  read: (view, memory, own) => againstStart(view, memory, 'rollout/answer_entropy', own.entropy_high),
});

/** Compared with the run's lowest value: a run that learns needs fewer turns, and a run about to collapse needs more. */
export const episodesGrow = detector({
  name: 'episodes_grow',
  title: 'Episodes grow longer',
  meaning: 'Episodes need more turns than before: the policy solves levels less directly or no longer.',
  family: 'actions',
  reference: 'lowest',
  weight: 0.24,
  notInPaper: true,
  thresholds: { episode_growth: threshold(1.3, 1.05, 10) },
  read(view, memory, own) {
    const series = 'rollout/turns';
    const value = smoothAdjusted(view, memory, series, 2 * view.parameters.window);
    const fewest = -peakOf(memory, 'fewest', -value);
    if (Number.isNaN(value) || !(fewest > 0)) return null;
    return high(view, series, value, fewest, own.episode_growth * fewest);
  },
});
