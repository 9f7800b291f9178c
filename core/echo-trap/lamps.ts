import type { TrapLamp } from '../contract/echo-trap.ts';
import { detectors, type Latch } from './signals.ts';

/** The four signs of the paper, each with its detectors. Figures come from the detector that is on, else from the first with a reading; while on, the worst value is shown. */
const lamps: readonly { name: TrapLamp['name']; by: readonly string[] }[] = [
  { name: 'reward_std', by: ['reward_std_falls', 'groups_fail'] },
  { name: 'entropy', by: ['entropy_falls', 'entropy_rises', 'entropy_rebounds'] },
  { name: 'gradient', by: ['gradient_spikes', 'gradient_grows', 'not_finite'] },
  {
    name: 'diversity',
    by: ['template_spreads', 'thoughts_alike', 'thoughts_lose_board', 'moves_lose_board'],
  },
];

const finite = (value: number) => (Number.isFinite(value) ? value : null);

export function lampsOf(latches: readonly Latch[]): TrapLamp[] {
  return lamps.map(({ name, by }) => {
    const all = by.map((each) => latches[detectors.findIndex((detector) => detector.name === each)]!);
    const shown = all.find(({ on }) => on) ?? all.find(({ reading }) => reading);
    if (!shown?.reading)
      return { name, light: 'unknown', series: '', value: null, baseline: null, since: null };
    const { series, value, baseline } = shown.reading;
    return {
      name,
      light: shown.on ? 'on' : 'off',
      series,
      value: finite(shown.on ? (shown.extreme ?? value) : value),
      baseline: finite(baseline),
      since: shown.since,
    };
  });
}
