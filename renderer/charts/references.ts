import type { HumanSuccess } from '../../core/contract/play.ts';
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
  max_actions?: number;
}

/**
 * What a share of success is to be held against: the policy before training, random moves, the best that there is to reach, and a person who played its levels, each
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
  return [
    ...(untrained === undefined ? [] : [{ value: untrained, label: `untrained ${percent(untrained)}` }]),
    ...boundsOf(environment),
    ...people
      .filter((each) => each.environment === environment.label && each.levels > 0)
      .map(({ successes, levels }) => ({
        value: successes / levels,
        label: `you ${percent(successes / levels, 0)}`,
      })),
  ];
}

/**
 * Success of uniformly random moves and of the best possible ones, for the environments as the presets have them. Random moves: 3,072 episodes on the 256 validation
 * levels by `starpo-trainer env`, within 1.5 points. The best: of a policy that can't know the slips, docs/decisions/0025.
 */
function boundsOf({ type, config = {}, max_actions }: Environment): Reference[] {
  if (type === 'bandit') return [{ value: 0.5, label: 'random 50 %' }];
  if (type === 'sokoban' && max_actions === 10 && is(config, { dim_x: 6, dim_y: 6, num_boxes: 1 }))
    return [{ value: 0.19, label: 'random 19 %' }];
  if (type !== 'frozen-lake' || max_actions !== 10 || !is(config, { size: 4, p: 0.8 })) return [];
  if (config.is_slippery !== true) return [{ value: 0.21, label: 'random 21 %' }];
  return Math.abs(Number(config.success_rate) - 1 / 3) < 0.01
    ? [
        { value: 0.22, label: 'random 22 %' },
        { value: 0.48, label: 'best possible 48 %' },
      ]
    : [];
}

const is = (config: Record<string, unknown>, wanted: Record<string, number>) =>
  Object.entries(wanted).every(([key, value]) => config[key] === value);
