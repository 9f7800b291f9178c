import { duration, number } from '../components/format.ts';
import type { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** What charts can go by, from left to right. */
export type AxisKind = 'iteration' | 'update' | 'episode' | 'token' | 'time';

/** What a configuration says of how much an iteration plays and learns. */
export interface RunShape {
  iterations: number;
  episodes: number;
  groupSize: number;
  miniBatch: number;
  epochs: number;
  /** Optimiser steps an iteration of a warm start; 0 where it is none. */
  warmSteps: number;
}

interface AxisWords {
  /** As in "by iteration". */
  by: string;
  /** Of a place: "iteration 43", "4.2k episodes". */
  place: (value: number) => string;
  tick: (value: number) => string;
  /** Why it isn't what a clock or a counter outside would say; empty where it is. */
  hint: string;
}

/** `43`, `200k`, `1.2M`. */
const whole = (value: number) =>
  Math.abs(value) < 1e4 ? String(Math.round(value)) : number(value).replace(/\.?0+(?=[kM])/, '');

export const axisWords: Record<AxisKind, AxisWords> = {
  iteration: { by: 'iteration', place: (value) => `Iteration ${Math.round(value)}`, tick: whole, hint: '' },
  update: {
    by: 'policy update',
    place: (value) => `${whole(value)} policy updates`,
    tick: whole,
    hint: 'Optimiser steps of the policy',
  },
  episode: {
    by: 'episode',
    place: (value) => `${whole(value)} episodes`,
    tick: whole,
    hint: 'Training episodes played',
  },
  token: {
    by: 'token',
    place: (value) => `${number(value)} tokens`,
    tick: whole,
    hint: 'Tokens sampled in training episodes',
  },
  time: {
    by: 'training time',
    place: (value) => `${duration(value)} of training`,
    tick: timeTick,
    hint: 'Time in iterations: without pauses, evaluations and checkpoints',
  },
};

export const axisKinds = Object.keys(axisWords) as AxisKind[];

/** `40 s`, `5 min`, `1.5 h`. */
function timeTick(seconds: number): string {
  if (seconds === 0) return '0';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${trimmed(seconds / 60)} min`;
  return `${trimmed(seconds / 3600)} h`;
}

const trimmed = (value: number) => String(Math.round(value * 10) / 10);

type Tree = { [key: string]: unknown };
const numberAt = (config: unknown, section: string, key: string): number => {
  const value = ((config as Tree | null)?.[section] as Tree | undefined)?.[key];
  return typeof value === 'number' ? value : 0;
};

/** Of run.json; zeros where it says nothing, as that of an imported run. */
export function shapeOf(config: unknown): RunShape {
  const groupSize = numberAt(config, 'rollout', 'group_size');
  const { task, iterations } = (config ?? {}) as Tree;
  return {
    iterations: typeof iterations === 'number' ? iterations : 0,
    episodes: numberAt(config, 'rollout', 'groups') * groupSize,
    groupSize,
    miniBatch: numberAt(config, 'policy_loss', 'mini_batch'),
    epochs: numberAt(config, 'policy_loss', 'epochs'),
    warmSteps: task === 'warm_start' ? numberAt(config, 'warm_start', 'steps_per_iteration') : 0,
  };
}

/** How much each iteration adds to the axis, or null where the run's metrics don't tell. */
function stepsOf(kind: AxisKind, source: SeriesSource, shape: RunShape) {
  const everyIteration = source.get('rollout/reward_mean') ?? source.get('warm_start/loss');
  const by = (series: MetricSeries | undefined, step: (value: number, iteration: number) => number) =>
    series && series.length > 0 ? { series, step } : null;
  switch (kind) {
    case 'iteration':
      return null;
    case 'time':
      return by(source.get('time/iteration'), (seconds) => seconds);
    case 'episode':
      return shape.episodes > 0 && shape.warmSteps === 0 ? by(everyIteration, () => shape.episodes) : null;
    case 'token':
      return shape.episodes > 0
        ? by(source.get('rollout/response_tokens'), (perEpisode) => perEpisode * shape.episodes)
        : null;
    case 'update': {
      if (shape.warmSteps > 0) return by(everyIteration, () => shape.warmSteps);
      // While the critic warms up, the policy is not updated, and its update has no metrics.
      const policy = source.get('actor/grad_norm');
      return shape.miniBatch > 0
        ? by(source.get('filter/kept_groups'), (groups, iteration) =>
            policy?.at(iteration) === undefined
              ? 0
              : shape.epochs * Math.ceil((groups * shape.groupSize) / shape.miniBatch),
          )
        : null;
    }
  }
}

/** Where iterations stand on an axis of one run. */
export interface Places {
  /** Of every point of a series, as long as it and ascending. */
  of(series: MetricSeries): Float64Array;
  at(iteration: number): number;
}

export const byIteration: Places = { of: (series) => series.iterations(), at: (iteration) => iteration };

/** Null where this run's metrics don't tell. */
export function placesOn(kind: AxisKind, source: SeriesSource, shape: RunShape): Places | null {
  if (kind === 'iteration') return byIteration;
  const steps = stepsOf(kind, source, shape);
  if (!steps) return null;
  let version = -1;
  let sums: Sums;
  let known = new WeakMap<MetricSeries, Float64Array>();
  const refresh = () => {
    if (version === source.version) return;
    version = source.version;
    known = new WeakMap();
    sums = summed(steps);
  };
  return {
    of(series) {
      refresh();
      const places = known.get(series) ?? placed(series.iterations(), sums);
      known.set(series, places);
      return places;
    },
    at(iteration) {
      refresh();
      return placed(Float64Array.of(iteration), sums)[0]!;
    },
  };
}

interface Sums {
  iterations: Float64Array;
  places: Float64Array;
}

function summed({ series, step }: NonNullable<ReturnType<typeof stepsOf>>): Sums {
  const iterations = series.iterations();
  let sum = 0;
  const places = series.values().map((value, index) => {
    sum += step(value, iterations[index]!);
    return sum;
  });
  return { iterations, places };
}

/** Each iteration where the last one at or before it ended; those before all are at 0. */
function placed(iterations: Float64Array, sums: Sums): Float64Array {
  let next = 0;
  return iterations.map((iteration) => {
    while (next < sums.iterations.length && sums.iterations[next]! <= iteration) next += 1;
    return next > 0 ? sums.places[next - 1]! : 0;
  });
}
