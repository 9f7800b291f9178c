import type { TrapRegime, TrapSignal, TrapState } from '../contract/echo-trap.ts';
import { metricTitle } from '../contract/metric-titles.ts';

/** What the monitor says to people. */

const states: Record<TrapState, string> = {
  healthy: 'Nothing points to a collapse.',
  solved:
    'Success holds at its peak, and little is left to learn. Spread and variety fall with it; that is as it should be.',
  locked:
    'Learning has stopped: one line of thought serves every board, and success neither falls nor rises.',
  watch: 'There are early signs of a fall. They may pass; have an eye on them.',
  warning: 'The risk of a fall is high: without a change this run is likely to collapse.',
  collapsing: 'The fall has begun.',
  collapsed: 'The run has lost most of what it had learned.',
};

const warnedAtEnd =
  'The run ended while the risk of a fall was high: more of the same is likely to collapse.';

const regimes: Record<TrapRegime, string> = {
  healthy: '',
  unknown: '',
  template: 'Thoughts are becoming one template that says nothing of the board.',
  compressed: 'Replies have become sure and short, yet still say which board they are about.',
  entropy_collapse: 'Replies are sure, alike, and say nothing of the board.',
  chaos: 'Replies are drawn more and more by chance and lose their form.',
};

/** The sign that shows it best: before a fall the one that counts most, else of the last stage that is on the one that began first. */
export function mainSignal(state: TrapState, signals: readonly TrapSignal[]): TrapSignal | null {
  const seen = signals.filter(({ stage }) => stage !== 'setting');
  const [heaviest] = seen.toSorted((a, b) => b.counts - a.counts);
  if ((state === 'watch' || state === 'warning') && heaviest && heaviest.counts > 0) return heaviest;
  const order = ['confirming', 'late', 'early'];
  const lit = signals.filter(({ on }) => on);
  lit.sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || (a.since ?? 0) - (b.since ?? 0));
  return lit[0] ?? null;
}

const number = (value: number | null) => (value === null ? 'unknown' : String(Number(value.toPrecision(3))));

/** What a sign that has passed its worst was at its worst: the present value may look healthy beside the baseline. */
const said = ({ title, value, extreme, baseline, series, since }: TrapSignal) => {
  const normally = baseline === 0 ? '' : `, normally ${number(baseline)}`;
  const figures = `: ${metricTitle(series)} ${number(extreme ?? value)}${normally}`;
  return `${title}${since === null ? '' : ` since iteration ${since}`}${series === '' ? '' : figures}.`;
};

export function alertMessage(state: TrapState, regime: TrapRegime, main: TrapSignal | null): string {
  return [states[state], state === 'locked' ? '' : regimes[regime], main ? said(main) : '']
    .filter((part) => part !== '')
    .join(' ');
}

/** `over`: nothing more comes of this run. */
export function stateSummary(
  state: TrapState,
  regime: TrapRegime,
  signals: readonly TrapSignal[],
  over: boolean,
): string {
  if (state === 'healthy' || state === 'solved') return states[state];
  const message = alertMessage(state, regime, mainSignal(state, signals));
  return over && state === 'warning' ? message.replace(states.warning, warnedAtEnd) : message;
}
