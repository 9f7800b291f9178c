import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { number, signed } from '../../../components/format.ts';

export type TokenTurn = EpisodeTokens['turns'][number];

/** Measures by which tokens can be colored. */
export type Measure = 'entropies' | 'logprobs' | 'advantages' | 'values';

interface MeasureLabels {
  label: string;
  unit: string;
  meaning: string;
  /** True if there is one color on either side of 0. */
  signed: boolean;
}

export const measures: Readonly<Record<Measure, MeasureLabels>> = {
  entropies: {
    label: 'Entropy',
    unit: 'nats',
    meaning: 'uncertainty of the policy',
    signed: false,
  },
  logprobs: {
    label: 'Log-probability',
    unit: 'nats',
    meaning: 'log-probability of the sampled token',
    signed: false,
  },
  advantages: {
    label: 'Advantage',
    unit: '',
    meaning: 'the update makes the token more (blue) or less (orange) likely',
    signed: true,
  },
  values: {
    label: 'Value',
    unit: 'reward',
    meaning: "the critic's estimate of the return",
    signed: true,
  },
};

/** Returns the measures that the file contains. */
export const measuresOf = ({ turns }: EpisodeTokens): Measure[] =>
  (Object.keys(measures) as Measure[]).filter((measure) =>
    turns.some((turn) => turn[measure]?.some((value) => value !== null)),
  );

export interface Scale {
  /** Ends of the legend. */
  from: number;
  to: number;
  /** Returns -1 to 1: strength of the color; negative values use the second color. */
  strength: (value: number | null) => number;
}

/** Returns one scale for all turns of an episode, so that colors are comparable. */
export function scaleOf({ turns }: EpisodeTokens, measure: Measure): Scale {
  const values = turns.flatMap((turn) => turn[measure] ?? []).filter((value) => value !== null);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const strength = (value: number | null) => {
    if (value === null || largest === 0) return 0;
    return measures[measure].signed ? value / largest : Math.abs(value) / largest;
  };
  if (measures[measure].signed) return { from: -largest, to: largest, strength };
  // A log-probability of 0 means certain; less likely tokens have stronger colors.
  return { from: 0, to: measure === 'logprobs' ? -largest : largest, strength };
}

export function describeToken(turn: TokenTurn, at: number): string {
  const value = (of: Measure) => turn[of]?.[at];
  const parts: string[] = [];
  const add = (of: Measure, text: (value: number) => string) => {
    const measured = value(of);
    if (typeof measured === 'number') parts.push(`${measures[of].label.toLowerCase()} ${text(measured)}`);
  };
  add('entropies', (entropy) => `${number(entropy)} nats`);
  add('logprobs', (logprob) => `${number(logprob)} (${probability(logprob)})`);
  add('advantages', signed);
  add('values', signed);
  return parts.join(' · ');
}

/** Formats the probability: `37 %`, `0.02 %`. */
function probability(logprob: number): string {
  const share = 100 * Math.exp(logprob);
  return `${share >= 1 || share === 0 ? share.toFixed(0) : share.toPrecision(1)} %`;
}

/** Makes white space visible. */
export const withVisibleSpace = (text: string) => text.replaceAll('\n', '⏎\n').replaceAll('\t', '⇥');
