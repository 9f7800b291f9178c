import type { TrapIndicator } from '../contract/echo-trap.ts';
import { detectors, type Latch } from './signals.ts';

/** The paper's four signals, each with its detectors. Figures come from the detector that is on, else from the first with a reading; while on, the worst value is shown. */
const indicators: readonly { name: TrapIndicator['name']; by: readonly string[] }[] = [
  { name: 'reward_std', by: ['reward_std_falls', 'groups_fail'] },
  { name: 'entropy', by: ['entropy_falls', 'entropy_rises', 'entropy_rebounds'] },
  { name: 'gradient', by: ['gradient_spikes', 'gradient_grows', 'not_finite'] },
  {
    name: 'diversity',
    by: ['template_share_rises', 'reasoning_similar', 'reasoning_ignores_state', 'actions_ignore_state'],
  },
];

const finite = (value: number) => (Number.isFinite(value) ? value : null);

export function indicatorsOf(latches: readonly Latch[]): TrapIndicator[] {
  return indicators.map(({ name, by }) => {
    const all = by.map((each) => latches[detectors.findIndex((detector) => detector.name === each)]!);
    const shown = all.find(({ on }) => on) ?? all.find(({ reading }) => reading);
    if (!shown?.reading) return { name, state: 'unknown', series: '', value: null, baseline: null, since: null };
    const { series, value, baseline } = shown.reading;
    return {
      name,
      state: shown.on ? 'on' : 'off',
      series,
      value: finite(shown.on ? (shown.extreme ?? value) : value),
      baseline: finite(baseline),
      since: shown.since,
    };
  });
}
