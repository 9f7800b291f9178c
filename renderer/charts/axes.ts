import { duration, number } from '../components/format.ts';
import { clockTick, dayAndTime } from './clock.ts';
import type { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** Quantities that the x axis of charts can show. */
export type AxisKind = 'iteration' | 'update' | 'episode' | 'token' | 'time' | 'clock';

/** Sizes from a run's configuration that convert iterations into episodes, tokens and updates. */
export interface RunShape {
  iterations: number;
  episodes: number;
  groupSize: number;
  miniBatch: number;
  epochs: number;
  /** Optimizer steps per iteration of a warm start; 0 for other runs. */
  warmSteps: number;
}

interface AxisLabels {
  /** As in "by iteration". */
  by: string;
  /** Formats a position: "Iteration 43", "4.2k episodes". */
  position: (value: number) => string;
  /** Formats a tick. `all`: the values of all ticks of the axis. */
  tick: (value: number, index?: number, all?: readonly number[]) => string;
  /** The unit that the axis counts, if it isn't obvious; may be empty. */
  hint: string;
}

/** Formats a count: `43`, `200k`, `1.2M`. */
const compact = (value: number) =>
  Math.abs(value) < 1e4 ? String(Math.round(value)) : number(value).replace(/\.?0+(?=[kM])/, '');

export const axisLabels: Record<AxisKind, AxisLabels> = {
  iteration: {
    by: 'iteration',
    position: (value) => `Iteration ${Math.round(value)}`,
    tick: compact,
    hint: '',
  },
  update: {
    by: 'policy update',
    position: (value) => `${compact(value)} policy updates`,
    tick: compact,
    hint: 'Optimizer steps of the policy',
  },
  episode: {
    by: 'episode',
    position: (value) => `${compact(value)} episodes`,
    tick: compact,
    hint: 'Training episodes',
  },
  token: {
    by: 'token',
    position: (value) => `${number(value)} tokens`,
    tick: compact,
    hint: 'Tokens sampled in training episodes',
  },
  time: {
    by: 'training time',
    position: (value) => `${duration(value)} of training`,
    tick: timeTick,
    hint: 'Time spent in iterations, without pauses, evaluations and checkpoints',
  },
  clock: {
    by: 'date and time',
    position: dayAndTime,
    tick: clockTick,
    hint: "End time of each iteration, on the training machine's clock",
  },
};

export const axisKinds = Object.keys(axisLabels) as AxisKind[];

/** Formats a duration: `40 s`, `5 min`, `1.5 h`. */
function timeTick(seconds: number): string {
  if (seconds === 0) return '0';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${oneDecimal(seconds / 60)} min`;
  return `${oneDecimal(seconds / 3600)} h`;
}

const oneDecimal = (value: number) => String(Math.round(value * 10) / 10);

type Tree = { [key: string]: unknown };
const settingAt = (config: unknown, section: string, key: string): number => {
  const value = ((config as Tree | null)?.[section] as Tree | undefined)?.[key];
  return typeof value === 'number' ? value : 0;
};

/** Reads the sizes from run.json; 0 if missing, as for imported runs. */
export function shapeOf(config: unknown): RunShape {
  const groupSize = settingAt(config, 'rollout', 'group_size');
  const { task, iterations } = (config ?? {}) as Tree;
  return {
    iterations: typeof iterations === 'number' ? iterations : 0,
    episodes: settingAt(config, 'rollout', 'groups') * groupSize,
    groupSize,
    miniBatch: settingAt(config, 'policy_loss', 'mini_batch'),
    epochs: settingAt(config, 'policy_loss', 'epochs'),
    warmSteps: task === 'warm_start' ? settingAt(config, 'warm_start', 'steps_per_iteration') : 0,
  };
}

/**
 * Returns the series from which the axis is computed and how much each iteration adds, or null if the
 * metrics are missing. Buckets add their mean times their count.
 */
function stepsOf(kind: AxisKind, source: SeriesSource, shape: RunShape) {
  const everyIteration = source.get('rollout/reward_mean') ?? source.get('warm_start/loss');
  const by = (series: MetricSeries | undefined, step: (value: number, iteration: number) => number) =>
    series && series.length > 0 ? { series, step } : null;
  const roundsPlayed = source.get('rollout/rounds');
  const rounds = (iteration: number) => roundsPlayed?.at(iteration) ?? 1;
  switch (kind) {
    case 'iteration':
    case 'clock':
      return null;
    case 'time':
      return by(source.get('time/iteration'), (seconds) => seconds);
    case 'episode':
      return shape.episodes > 0 && shape.warmSteps === 0
        ? by(everyIteration, (_, iteration) => shape.episodes * rounds(iteration))
        : null;
    case 'token':
      return shape.episodes > 0
        ? by(
            source.get('rollout/response_tokens'),
            (perEpisode, iteration) => perEpisode * shape.episodes * rounds(iteration),
          )
        : null;
    case 'update': {
      if (shape.warmSteps > 0) return by(everyIteration, () => shape.warmSteps);
      // During critic warm-up the policy isn't updated and has no update metrics.
      const policy = source.get('actor/grad_norm');
      const replayed = source.get('replay/share');
      return shape.miniBatch > 0
        ? by(source.get('filter/kept_groups'), (groups, iteration) =>
            policy?.at(iteration) === undefined
              ? 0
              : shape.epochs *
                Math.ceil(
                  Math.round((groups * shape.groupSize) / (1 - (replayed?.at(iteration) ?? 0))) / shape.miniBatch,
                ),
          )
        : null;
    }
  }
}

/** Positions of a run's iterations on an axis. */
export interface AxisPositions {
  /** Returns the positions of a series' points, ascending. */
  of(series: MetricSeries): Float64Array;
  at(iteration: number): number;
}

export const byIteration: AxisPositions = {
  of: (series) => series.iterations(),
  at: (iteration) => iteration,
};

/** Returns null if the run lacks the metrics for this axis. */
export function positionsOn(kind: AxisKind, source: SeriesSource, shape: RunShape): AxisPositions | null {
  if (kind === 'iteration') return byIteration;
  if (kind === 'clock') return byClock(source);
  const steps = stepsOf(kind, source, shape);
  if (!steps) return null;
  return cachedPositions(source, () => cumulative(steps), lastBefore);
}

/** Returns the end times of iterations, interpolated between measured ones. */
function byClock(source: SeriesSource): AxisPositions | null {
  const times = source.times?.();
  if (!times || times.length === 0) return null;
  const measured = () => ({ iterations: times.iterations(), positions: times.values() });
  return cachedPositions(source, measured, interpolated);
}

/** Caches positions until the source changes. */
function cachedPositions(
  source: SeriesSource,
  read: () => MeasuredPositions,
  find: (iterations: Float64Array, measured: MeasuredPositions) => Float64Array,
): AxisPositions {
  let version = -1;
  let measured: MeasuredPositions;
  let cache = new WeakMap<MetricSeries, Float64Array>();
  const refresh = () => {
    if (version === source.version) return;
    version = source.version;
    cache = new WeakMap();
    measured = read();
  };
  return {
    of(series) {
      refresh();
      const positions = cache.get(series) ?? find(series.iterations(), measured);
      cache.set(series, positions);
      return positions;
    },
    at(iteration) {
      refresh();
      return find(Float64Array.of(iteration), measured)[0]!;
    },
  };
}

/** Iterations with measured positions, ascending. */
interface MeasuredPositions {
  iterations: Float64Array;
  positions: Float64Array;
}

function cumulative({ series, step }: NonNullable<ReturnType<typeof stepsOf>>): MeasuredPositions {
  const iterations = series.iterations();
  const counts = series.counts();
  let sum = 0;
  const positions = series.values().map((value, index) => {
    sum += step(value, iterations[index]!) * (counts?.[index] ?? 1);
    return sum;
  });
  return { iterations, positions };
}

/** Returns for each iteration the position of the last measured one up to it; 0 if there is none. */
function lastBefore(iterations: Float64Array, measured: MeasuredPositions): Float64Array {
  let next = 0;
  return iterations.map((iteration) => {
    while (next < measured.iterations.length && measured.iterations[next]! <= iteration) next += 1;
    return next > 0 ? measured.positions[next - 1]! : 0;
  });
}

/** Interpolates between the measured iterations around each one; clamps outside of them. */
function interpolated(iterations: Float64Array, { iterations: at, positions }: MeasuredPositions): Float64Array {
  let next = 0;
  return iterations.map((iteration) => {
    while (next < at.length && at[next]! <= iteration) next += 1;
    if (next === 0) return positions[0]!;
    const [before, after] = [next - 1, Math.min(next, at.length - 1)];
    const share = before === after ? 0 : (iteration - at[before]!) / (at[after]! - at[before]!);
    return positions[before]! + share * (positions[after]! - positions[before]!);
  });
}
