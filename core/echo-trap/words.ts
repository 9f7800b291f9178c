import type { TrapRegime, TrapSignal, TrapState } from '../contract/echo-trap.ts';
import { metricInSentence } from '../contract/metric-titles.ts';

/** Texts of alerts and state summaries. */

const states: Record<TrapState, string> = {
  healthy: 'No evidence of collapse.',
  solved: 'Success is at its peak and little is left to learn. Lower reward std and entropy are expected here.',
  locked: 'Learning has stopped: reasoning is the same on every level, and success neither rises nor falls.',
  watch: 'Early signals of collapse. They may clear.',
  warning: 'High risk of collapse unless something changes.',
  collapsing: 'Collapse in progress.',
  collapsed: 'The run has collapsed and lost most of what it learned.',
};

const warnedAtEnd = 'The run ended at a high risk of collapse. More iterations are likely to collapse.';

const regimes: Record<TrapRegime, string> = {
  healthy: '',
  unknown: '',
  template: 'Reasoning is becoming a template that does not depend on the level.',
  compressed: 'Low entropy, but responses still depend on the level.',
  entropy_collapse: 'Low entropy; responses are the same on every level.',
  chaos: 'Responses are becoming random and malformed.',
};

/**
 * Returns the signal that explains a state best. In `watch` and `warning` it is the one with the largest contribution to the risk score,
 * otherwise the earliest active signal of the last stage.
 */
export function mainSignal(state: TrapState, signals: readonly TrapSignal[]): TrapSignal | null {
  const observed = signals.filter(({ stage }) => stage !== 'setting');
  const [largest] = observed.toSorted((a, b) => b.contribution - a.contribution);
  if ((state === 'watch' || state === 'warning') && largest && largest.contribution > 0) return largest;
  const order = ['confirming', 'late', 'early'];
  const active = signals.filter(({ on }) => on);
  active.sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || (a.since ?? 0) - (b.since ?? 0));
  return active[0] ?? null;
}

const number = (value: number | null) => (value === null ? 'unknown' : String(Number(value.toPrecision(3))));

/** Uses the worst value while the signal is on, because the latest value may be back near the baseline. */
const describeSignal = ({ title, value, extreme, baseline, series, since }: TrapSignal) => {
  const reference = baseline === 0 ? '' : ` (baseline ${number(baseline)})`;
  const figures = `: ${metricInSentence(series)} ${number(extreme ?? value)}${reference}`;
  return `${title}${since === null ? '' : ` since iteration ${since}`}${series === '' ? '' : figures}.`;
};

export function alertMessage(state: TrapState, regime: TrapRegime, main: TrapSignal | null): string {
  return [states[state], state === 'locked' ? '' : regimes[regime], main ? describeSignal(main) : '']
    .filter((part) => part !== '')
    .join(' ');
}

/** `ended`: the run has completed its last iteration. */
export function stateSummary(
  state: TrapState,
  regime: TrapRegime,
  signals: readonly TrapSignal[],
  ended: boolean,
): string {
  if (state === 'healthy' || state === 'solved') return states[state];
  const message = alertMessage(state, regime, mainSignal(state, signals));
  return ended && state === 'warning' ? message.replace(states.warning, warnedAtEnd) : message;
}
