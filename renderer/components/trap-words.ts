import type { TrapBrief, TrapLamp, TrapLevel, TrapRegime, TrapState } from '../../core/contract/contract.ts';
import { knownWord, type OpenWord } from '../../core/contract/open-words.ts';
import type { IconName } from './icon.tsx';

/** How loud something is; each has a colour and, since colour alone says nothing, a shape. */
export type Tone = 'calm' | 'watch' | 'warning' | 'critical';

export const toneIcons: Record<Tone, IconName> = {
  calm: 'ok',
  watch: 'watch',
  warning: 'warning',
  critical: 'critical',
};

export interface Wording {
  word: string;
  tone: Tone;
}

export const stateWords: Record<TrapState, Wording> = {
  healthy: { word: 'Healthy', tone: 'calm' },
  solved: { word: 'Solved', tone: 'calm' },
  locked: { word: 'Learning has stopped', tone: 'watch' },
  watch: { word: 'Watch', tone: 'watch' },
  warning: { word: 'Warning', tone: 'warning' },
  collapsing: { word: 'Collapsing', tone: 'critical' },
  collapsed: { word: 'Collapsed', tone: 'critical' },
};

const levelWords: Record<TrapLevel, Wording> = {
  watch: stateWords.watch,
  warning: stateWords.warning,
  collapsing: stateWords.collapsing,
  collapsed: stateWords.collapsed,
};

/** A level that this version doesn't know is called by its name, and taken for neither the least nor the worst. */
export const levelWording = (level: OpenWord<TrapLevel>): Wording =>
  knownWord(levelWords, level) ?? { word: level, tone: 'warning' };

export const isAlarm = (state: string): boolean => ['warning', 'collapsing', 'collapsed'].includes(state);

interface RegimeWording {
  word: string;
  meaning: string;
}

export const regimeWords: Record<TrapRegime, RegimeWording> = {
  healthy: { word: 'Healthy', meaning: 'replies vary, and thoughts depend on their board' },
  template: { word: 'Template', meaning: 'replies vary, but thoughts are much the same for every board' },
  compressed: {
    word: 'Compressed',
    meaning: 'replies vary little, but thoughts still depend on their board',
  },
  entropy_collapse: {
    word: 'Entropy collapse',
    meaning: 'replies vary little, and thoughts are the same for every board',
  },
  chaos: { word: 'Chaos', meaning: 'entropy rises, and replies lose their form' },
  unknown: { word: 'Not known', meaning: 'one of the two is not measured' },
};

/** A regime that this version doesn't know is called by its name. */
export const regimeWording = (regime: OpenWord<TrapRegime>): RegimeWording =>
  knownWord(regimeWords, regime) ?? { word: regime, meaning: 'not known to this version' };

export const lampWords: Record<TrapLamp['name'], { name: string; sign: string }> = {
  spread: { name: 'Reward spread', sign: 'Rewards within a group become equal' },
  entropy: { name: 'Entropy', sign: 'Replies lose their variety, or lose all order' },
  gradient: { name: 'Gradient norm', sign: 'The gradient spikes' },
  diversity: { name: 'Diversity', sign: 'First thoughts become one line' },
};

export const lightWords: Record<TrapLamp['light'], string> = {
  on: 'on',
  off: 'off',
  unknown: 'no data',
};

export const sinceWords = ({ state, since }: TrapBrief): string =>
  since <= 1 && state === 'healthy' ? 'since the start' : `since iteration ${since}`;
