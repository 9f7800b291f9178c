import type { TrapSignal, TrapState, TrapVerdict } from '../contract/echo-trap.ts';
import { metricInSentence } from '../contract/metric-titles.ts';
import description from '../run-directory/description.json' with { type: 'json' };
import { isCalm, losesVariety } from './machine.ts';
import { detectors } from './signals.ts';

/** Texts of alerts and state summaries. */

const states: Record<TrapState, string> = {
  healthy: 'No evidence of collapse.',
  solved: 'Success is at its peak and little is left to learn. Lower reward std and entropy are expected here.',
  narrowing:
    'Reasoning is becoming the same on every level. Act now: no tested setting restored level-dependent reasoning once it was lost.',
  locked: 'Reasoning is the same on every level, and success neither rises nor falls.',
  watch: 'Early signals of collapse. They may clear.',
  warning: 'High risk of collapse unless something changes.',
  collapsing: 'Collapse in progress.',
  collapsed: 'The run has collapsed and lost most of what it learned.',
};

const warnedAtEnd = 'The run ended with a high risk of collapse. It is likely to collapse if you extend it.';

const reasoningSignals = new Set(detectors.flatMap(({ name, family }) => (family === 'reasoning' ? name : [])));

/**
 * Returns the signal that explains a state best. In `watch` and `warning` it is the one with the largest contribution to the risk score, in
 * `narrowing` and `locked` the earliest active one about reasoning, otherwise the earliest active signal of the last stage.
 */
export function mainSignal(state: TrapVerdict, signals: readonly TrapSignal[]): TrapSignal | null {
  const observed = signals.filter(({ stage }) => stage !== 'setting');
  const [largest] = observed.toSorted((a, b) => b.contribution - a.contribution);
  if ((state === 'watch' || state === 'warning') && largest && largest.contribution > 0) return largest;
  const order = ['confirming', 'late', 'early'];
  const active = signals.filter(({ on }) => on);
  active.sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || (a.since ?? 0) - (b.since ?? 0));
  const repeats = losesVariety(state);
  return (repeats && active.find(({ name }) => reasoningSignals.has(name))) || (active[0] ?? null);
}

/** A signal that adds at least this much to the risk score is evidence, even if it is off. */
const minimumContribution = 0.1;

/** Returns the observed signals that are evidence for a state, the main one first; none for a healthy or solved run. */
export function evidenceFor(state: TrapVerdict, signals: readonly TrapSignal[]): TrapSignal[] {
  if (isCalm(state)) return [];
  const main = mainSignal(state, signals);
  const others = signals.filter(
    (signal) =>
      signal !== main && signal.stage !== 'setting' && (signal.on || signal.contribution >= minimumContribution),
  );
  others.sort((a, b) => b.contribution - a.contribution || (a.since ?? 0) - (b.since ?? 0));
  return main ? [main, ...others] : others;
}

/** Metrics that are shown in percent. */
const shares = new Set(description.metrics.filter(({ unit }) => unit === 'share').map(({ name }) => name));

function figure(value: number | null, series: string): string {
  if (value === null) return 'unknown';
  if (shares.has(series)) return `${Number((100 * value).toFixed(1))} %`;
  return String(Number(value.toPrecision(3)));
}

const referenceWords: Record<TrapSignal['reference'], string> = { usual: 'usually', best: 'best', lowest: 'lowest' };

/** `entropy 0.05 (usually 0.27)`, or `approximate KL 0.41 (limit 0.33)` if the baseline is 0. */
function figures({ baseline, series, reference, threshold }: TrapSignal, value: number | null): string {
  const compared =
    baseline === 0 ? `limit ${figure(threshold, series)}` : `${referenceWords[reference]} ${figure(baseline, series)}`;
  return `${metricInSentence(series)} ${figure(value, series)} (${compared})`;
}

/** Uses the worst value while the signal is on, because the latest value may be back near the baseline. */
const describeSignal = (signal: TrapSignal) =>
  `${signal.title}${signal.since === null ? '' : ` since iteration ${signal.since}`}${
    signal.series === '' ? '' : `: ${figures(signal, signal.extreme ?? signal.value)}`
  }.`;

/** Describes the two strongest signals that are evidence for a state, with their current values. */
export const strongestEvidence = (state: TrapState, signals: readonly TrapSignal[]): string[] =>
  evidenceFor(state, signals)
    .slice(0, 2)
    .map((signal) => (signal.series === '' ? signal.title : capitalized(figures(signal, signal.value))));

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const inSentence = (title: string) =>
  title.startsWith('NaN') ? title : `${title.charAt(0).toLowerCase()}${title.slice(1)}`;

/** Number of other signals that a message names. */
const named = 3;

/** Names the state, its main signal with figures, and its other signals. */
export function alertMessage(state: TrapState, signals: readonly TrapSignal[]): string {
  const [main, ...others] = evidenceFor(state, signals);
  const names = others.slice(0, named).map(({ title }) => inSentence(title));
  const more = others.length > named ? ` and ${others.length - named} more` : '';
  return [
    states[state],
    main ? describeSignal(main) : '',
    others.length > 0 ? `Other signals: ${names.join(', ')}${more}.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** `ended`: the run has completed its last iteration. `clearsAfter`: iterations without evidence until the state clears. */
export function stateSummary(
  state: TrapState,
  signals: readonly TrapSignal[],
  ended: boolean,
  clearsAfter: number,
): string {
  if (!isCalm(state) && evidenceFor(state, signals).length === 0)
    return `All signals have cleared. The state clears after ${clearsAfter} iterations without evidence.`;
  return ended && state === 'warning' ? warnedAtEnd : states[state];
}
