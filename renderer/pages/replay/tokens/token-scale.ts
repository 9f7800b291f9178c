import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { number, signed } from '../../../components/format.ts';

export type TokenTurn = EpisodeTokens['turns'][number];

/** What tokens can be coloured by. */
export type Measure = 'entropies' | 'logprobs' | 'advantages' | 'values';

interface MeasureWords {
  label: string;
  unit: string;
  /** What the colours mean. */
  meaning: string;
  /** Both signs matter: two colours about 0. */
  signed: boolean;
}

export const measures: Readonly<Record<Measure, MeasureWords>> = {
  entropies: {
    label: 'Entropy',
    unit: 'nats',
    meaning: 'how undecided the policy was',
    signed: false,
  },
  logprobs: {
    label: 'Log-probability',
    unit: 'nats',
    meaning: 'how unlikely the token was',
    signed: false,
  },
  advantages: {
    label: 'Advantage',
    unit: '',
    meaning: 'made likelier (blue) or less likely (orange) by the update',
    signed: true,
  },
  values: {
    label: 'Value',
    unit: 'reward',
    meaning: "the critic's estimate of the return",
    signed: true,
  },
};

/** Those that the file holds. */
export const measuresOf = ({ turns }: EpisodeTokens): Measure[] =>
  (Object.keys(measures) as Measure[]).filter((measure) =>
    turns.some((turn) => turn[measure]?.some((value) => value !== null)),
  );

export interface Scale {
  /** The ends of the legend. */
  from: number;
  to: number;
  /** -1..1: how strongly a value is coloured, below 0 in the other colour. */
  strength: (value: number | null) => number;
}

/** One scale for all turns of an episode, so that their colours compare. */
export function scaleOf({ turns }: EpisodeTokens, measure: Measure): Scale {
  const values = turns.flatMap((turn) => turn[measure] ?? []).filter((value) => value !== null);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const strength = (value: number | null) => {
    if (value === null || largest === 0) return 0;
    return measures[measure].signed ? value / largest : Math.abs(value) / largest;
  };
  if (measures[measure].signed) return { from: -largest, to: largest, strength };
  // A log-probability of 0 is certain: the stronger the colour, the less likely.
  return { from: 0, to: measure === 'logprobs' ? -largest : largest, strength };
}

/** What is known of a token, in words. */
export function describeToken(turn: TokenTurn, at: number): string {
  const value = (of: Measure) => turn[of]?.[at];
  const words: string[] = [];
  const add = (of: Measure, text: (value: number) => string) => {
    const known = value(of);
    if (typeof known === 'number') words.push(`${measures[of].label.toLowerCase()} ${text(known)}`);
  };
  add('entropies', (known) => `${number(known)} nats`);
  add('logprobs', (known) => `${number(known)} (${probability(known)})`);
  add('advantages', signed);
  add('values', signed);
  return words.join(' · ');
}

/** `37 %`, `0.02 %`. */
function probability(logprob: number): string {
  const share = 100 * Math.exp(logprob);
  return `${share >= 1 || share === 0 ? share.toFixed(0) : share.toPrecision(1)} %`;
}

/** White space and bytes that are no text, to be seen. */
export const visible = (text: string) => text.replaceAll('\n', '⏎\n').replaceAll('\t', '⇥');
