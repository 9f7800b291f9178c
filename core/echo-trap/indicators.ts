import type { TrapIndicator, TrapSignal, TrapState } from '../contract/echo-trap.ts';
import { indicatorTitles } from '../contract/trap-words.ts';
import { minimumValues } from './detector.ts';
import { evidenceFor } from './words.ts';

interface Group {
  name: TrapIndicator['name'];
  /** The signal whose metric it shows: the first that the run measures. */
  measure: readonly string[];
  /** Its other signals. */
  others: readonly string[];
}

/** Every signal that is observed belongs to one indicator. The first four are the paper's. */
const groups: readonly Group[] = [
  { name: 'reward_std', measure: ['reward_std_falls'], others: ['groups_fail'] },
  { name: 'entropy', measure: ['entropy_falls'], others: ['entropy_rises', 'entropy_rebounds', 'actions_scatter'] },
  {
    name: 'gradient',
    measure: ['gradient_spikes'],
    others: ['gradient_grows', 'updates_clip', 'lost_at_once', 'not_finite'],
  },
  {
    name: 'diversity',
    measure: ['template_share_rises', 'reasoning_similar', 'reasoning_ignores_state', 'actions_ignore_state'],
    others: ['single_reasoning', 'reasoning_shortens'],
  },
  { name: 'format', measure: ['format_falls'], others: ['responses_grow'] },
  { name: 'success', measure: ['success_falls'], others: ['success_lost', 'levels_lost', 'episodes_grow'] },
];

/** Returns the indicators. Those with evidence for the state are on, so that they never contradict its sentence. */
export function indicatorsOf(state: TrapState, signals: readonly TrapSignal[]): TrapIndicator[] {
  const evidence = evidenceFor(state, signals);
  return groups.map(({ name, measure, others }) => {
    const own = [...measure, ...others].flatMap((each) => signals.find((signal) => signal.name === each) ?? []);
    const active = evidence.filter((signal) => own.includes(signal));
    const shown = own.find((signal) => measure.includes(signal.name) && signal.series !== '');
    const starts = active.flatMap(({ since }) => since ?? []);
    const isMeasured = own.some(({ value }) => value !== null);
    return {
      name,
      state: active.length > 0 ? 'on' : isMeasured ? 'off' : 'unknown',
      signals: active.map((signal) => signal.name),
      series: shown?.series ?? '',
      value: shown?.value ?? null,
      baseline: shown?.baseline ?? null,
      since: starts.length > 0 ? Math.min(...starts) : null,
    };
  });
}

/** Indicators that a verdict needs, because a warning needs two families of signals. Success counts for none: it shows a collapse only afterwards. */
const minimumMeasured = 2;

const hasData = ({ state }: TrapIndicator) => state !== 'unknown';

/** Returns whether a run without a warning can be called healthy. */
export const isMeasured = (indicators: readonly TrapIndicator[]): boolean =>
  indicators.filter((each) => hasData(each) && each.name !== 'success').length >= minimumMeasured;

/** Returns why the monitor can't judge a run, as sentences. `iterations`: number of iterations with episodes. */
export function whyUnmeasured(indicators: readonly TrapIndicator[], iterations: number): string {
  if (iterations < minimumValues) return `The monitor needs at least ${minimumValues} iterations.`;
  const measured = indicators.filter(hasData).map(({ name }) => indicatorTitles[name].toLowerCase());
  const names = measured.length === 0 ? '' : `: ${measured.join(', ')}`;
  return `The run lacks the metrics for a verdict. ${measured.length} of ${indicators.length} indicators ${measured.length === 1 ? 'has' : 'have'} data${names}. At least ${minimumMeasured} besides success are needed.`;
}
