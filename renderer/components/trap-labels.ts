import type { TrapBrief, TrapIndicator, TrapLevel, TrapRegime, TrapVerdict } from '../../core/contract/contract.ts';
import { knownWord, type OpenWord } from '../../core/contract/open-words.ts';
import { indicatorTitles, stateTitle } from '../../core/contract/trap-words.ts';
import type { IconName } from './icon.tsx';

/** Severity, shown by color and shape; `none` without a verdict. */
export type Tone = 'none' | 'calm' | 'watch' | 'warning' | 'critical';

export const toneIcons: Record<Tone, IconName> = {
  none: 'quiet',
  calm: 'ok',
  watch: 'watch',
  warning: 'warning',
  critical: 'critical',
};

interface StateLabel {
  word: string;
  tone: Tone;
}

const tones: Record<TrapVerdict, Tone> = {
  unmeasured: 'none',
  healthy: 'calm',
  solved: 'calm',
  watch: 'watch',
  narrowing: 'watch',
  locked: 'watch',
  warning: 'warning',
  collapsing: 'critical',
  collapsed: 'critical',
};

/** Returns the label of a state or level. An unknown one is shown by its name, as a warning. */
export const stateLabel = (state: OpenWord<TrapVerdict | TrapLevel>): StateLabel => ({
  word: stateTitle(state),
  tone: knownWord(tones, state) ?? 'warning',
});

interface RegimeLabel {
  word: string;
  meaning: string;
}

export const regimeLabels: Record<TrapRegime, RegimeLabel> = {
  healthy: { word: 'Healthy', meaning: 'responses vary, and reasoning depends on the level' },
  template: { word: 'Template', meaning: 'responses vary, but reasoning is nearly the same on every level' },
  compressed: {
    word: 'Compressed',
    meaning: 'responses vary little, but reasoning still depends on the level',
  },
  entropy_collapse: {
    word: 'Entropy collapse',
    meaning: 'responses vary little, and reasoning is the same on every level',
  },
  chaos: { word: 'Chaos', meaning: 'responses become random or lose their format' },
  unknown: { word: 'Undetermined', meaning: 'no failure mode explains the signals' },
};

/** Returns the label of a regime. An unknown regime is shown by its name. */
export const regimeLabel = (regime: OpenWord<TrapRegime>): RegimeLabel =>
  knownWord(regimeLabels, regime) ?? { word: regime, meaning: 'unknown to this version' };

const indicatorMeanings: Record<TrapIndicator['name'], string> = {
  reward_std: 'Rewards within a group become equal',
  entropy: 'Responses lose variety or become random',
  gradient: 'Gradient spikes',
  diversity: 'Reasoning becomes the same on every level',
  format: 'Responses lose their format or grow longer',
  success: 'Fewer levels are solved, or episodes need more turns',
};
export const indicatorLabel = (name: TrapIndicator['name']) => ({
  name: indicatorTitles[name],
  meaning: indicatorMeanings[name],
});

export const indicatorStateLabels: Record<TrapIndicator['state'], string> = {
  on: 'active',
  off: 'OK',
  unknown: 'no data',
};

export const sinceText = ({ state, since }: TrapBrief): string =>
  state === 'unmeasured' ? '' : since <= 1 && state === 'healthy' ? 'since the start' : `since iteration ${since}`;
