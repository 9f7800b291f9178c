import type { HumanSuccess } from '../../core/contract/contract.ts';
import { percent } from '../components/format.ts';
import type { SeriesSource } from './series-source.ts';

/** A height to compare with, drawn across a chart. */
export interface Reference {
  value: number;
  label: string;
}

interface Environment {
  label?: string;
  type?: string;
  config?: Record<string, unknown>;
}

/**
 * What a share of success is to be held against: the policy before training, chance, a person who played its levels, and the best that there is to reach, each
 * where it is known. With several environments none is drawn, since a line would not say of which it is.
 */
export function successReferences(
  config: unknown,
  source: SeriesSource,
  people: readonly HumanSuccess[] = [],
): Reference[] {
  const environments = (config as { environments?: Environment[] } | null)?.environments ?? [];
  const [environment] = environments;
  if (environments.length !== 1 || !environment) return [];
  const evaluations = source.get(`evaluation/${environment.label}/success_rate`);
  const untrained = evaluations?.at(0);
  const you = people.find((person) => person.environment === environment.label);
  return [
    ...(untrained === undefined ? [] : [lineOf('untrained', untrained)]),
    ...boundsOf(environment),
    ...(you ? [lineOf('You', you.successes / you.levels)] : []),
  ];
}

const lineOf = (name: string, value: number): Reference => ({ value, label: `${name} ${percent(value)}` });

/** Success of a uniform choice of actions, and of the best one. */
function boundsOf({ type, config = {} }: Environment): Reference[] {
  // One choice of two arms, of which one is the better.
  if (type === 'bandit') return [{ value: 0.5, label: 'chance 50 %' }];
  // Of a policy that can't know the slips, in ten actions: docs/decisions/0025.
  if (
    type === 'frozen-lake' &&
    config.is_slippery === true &&
    config.size === 4 &&
    Number(config.success_rate) < 0.34
  )
    return [{ value: 0.48, label: 'best possible 48 %' }];
  return [];
}
