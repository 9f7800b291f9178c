import { evaluatedLabel } from '../contract/run-facts.ts';

/** A run's metrics after one iteration; those of an evaluation may come by themselves. */
export interface Point {
  iteration: number;
  metrics: Readonly<Record<string, number>>;
}

/** What a track holds of an iteration: {@link watched} metrics and a column or two of its own. */
export interface TrackPoint {
  iteration: number;
  values: Record<string, number>;
}

/** Metrics that detectors read, by the names of docs/formats/metrics.md. */
export const watched = [
  'rollout/success_rate',
  'rollout/reward_mean',
  'rollout/level_ease',
  'rollout/reward_std_in_group',
  'rollout/zero_std_groups',
  'rollout/zero_std_solved',
  'rollout/zero_std_failed',
  'rollout/entropy',
  'rollout/answer_entropy',
  'rollout/format_valid_rate',
  'rollout/action_valid_rate',
  'rollout/response_tokens',
  'rollout/think_tokens',
  'rollout/turns',
  'rollout/pass_at_n',
  'rollout/truncated_rate',
  'rollout/distinct_first_thoughts',
  'rollout/template_share',
  'rollout/thought_likeness_across',
  'rollout/first_action_entropy',
  'rollout/first_action_dependence',
  'rollout/repeated_ngrams',
  'actor/learning_rate',
  'actor/grad_norm',
  'actor/grad_norm_max',
  'actor/approximate_kl',
  'actor/clip_fraction_high',
  'actor/kl_to_reference',
  'advantage/active_share',
  'advantage/std',
  'diagnostics/kl_from_start',
  'diagnostics/mutual_information',
  'diagnostics/mutual_information_ceiling',
] as const;
export type Watched = (typeof watched)[number];

const played = watched.filter((name) => name.startsWith('rollout/'));

/** Beside the watched ones: mean success of the evaluation sets, and 1 where a metric wasn't finite. */
export const evaluated = 'evaluation';
export const broken = 'broken';
type Column = Watched | typeof evaluated | typeof broken;
const columns: readonly Column[] = [...watched, evaluated, broken];

/** The series of one run as detectors see them: by iteration, in order, with gaps. */
export class Track {
  readonly iterations: number[] = [];
  private readonly values = new Map<Column, number[]>(columns.map((name) => [name, []]));
  /** Success of the evaluation sets, by iteration and label: each comes by itself. */
  private readonly evaluations = new Map<number, Map<string, number>>();

  get length(): number {
    return this.iterations.length;
  }

  /** Takes a point in; one of a known iteration replaces what it names. Gives the first index that it changes, null where it says nothing that is watched. */
  put({ iteration, metrics }: Point): number | null {
    if (!Number.isFinite(iteration)) return null;
    const found = columnsOf(metrics);
    const success = this.evaluate(iteration, metrics);
    if (success !== null) found.set(evaluated, success);
    if (found.size === 0) return null;
    let index = this.length;
    while (index > 0 && this.iterations[index - 1]! >= iteration) index -= 1;
    const isKnown = this.iterations[index] === iteration;
    if (!isKnown) {
      insert(this.iterations, index, iteration);
      for (const values of this.values.values()) insert(values, index, Number.NaN);
    }
    for (const [name, value] of found) this.values.get(name)![index] = value;
    // Of evaluations only the first is looked at: a later one of an iteration that was judged changes nothing.
    const isIdle = isKnown && index > 0 && found.size === 1 && found.has(evaluated);
    return isIdle ? null : index;
  }

  /** Takes in what a point says of evaluations; gives the mean over all sets of its iteration, null where it says nothing. */
  private evaluate(iteration: number, metrics: Point['metrics']): number | null {
    const told = Object.entries(metrics).flatMap(([name, value]): [string, number][] => {
      const label = evaluatedLabel(name);
      return label !== undefined && Number.isFinite(value) ? [[label, value]] : [];
    });
    if (told.length === 0) return null;
    const sets = new Map([...(this.evaluations.get(iteration) ?? []), ...told]);
    this.evaluations.set(iteration, sets);
    return mean([...sets.values()]);
  }

  /** Forgets all after an iteration. */
  truncate(iteration: number): void {
    let length = this.length;
    while (length > 0 && this.iterations[length - 1]! > iteration) length -= 1;
    this.iterations.length = length;
    for (const at of this.evaluations.keys()) if (at > iteration) this.evaluations.delete(at);
    for (const values of this.values.values()) values.length = length;
  }

  /** NaN where it isn't known. */
  at(name: Watched, index: number): number {
    return this.values.get(name)![index] ?? Number.NaN;
  }

  /** Whether something at an index wasn't a finite number. */
  isBroken(index: number): boolean {
    return this.values.get(broken)![index] === 1;
  }

  /** Whether episodes were played for training there: not in an evaluation alone, nor in a warm start. Where something wasn't finite there may be no figure of them left. */
  isPlayed(index: number): boolean {
    return this.isBroken(index) || played.some((name) => !Number.isNaN(this.at(name, index)));
  }

  /** Success of the evaluation that the run began with, over the sets that count; NaN where there was none. */
  firstEvaluation(counts: (label: string) => boolean): number {
    const sets = this.evaluations.get(this.iterations[0] ?? Number.NaN);
    if (!sets) return this.values.get(evaluated)![0] ?? Number.NaN;
    return mean([...sets].flatMap(([label, success]) => (counts(label) ? success : [])));
  }

  /** The last `count` known values up to an index, oldest first; gaps are looked past, but no further than four times as many iterations. */
  recent(name: Watched, index: number, count: number): number[] {
    const values = this.values.get(name)!;
    return this.recentIndices(name, index, count).map((i) => values[i]!);
  }

  /** Where those values are. */
  recentIndices(name: Watched, index: number, count: number): number[] {
    const values = this.values.get(name)!;
    const oldest = Math.max(0, index - 4 * count + 1);
    const found: number[] = [];
    for (let i = index; i >= oldest && found.length < count; i -= 1)
      if (!Number.isNaN(values[i]!)) found.push(i);
    return found.reverse();
  }

  /** Every point, so that a track made of them is the same. */
  points(): TrackPoint[] {
    return this.iterations.map((iteration, index) => {
      const found = columns.filter((name) => !Number.isNaN(this.values.get(name)![index]!));
      return {
        iteration,
        values: Object.fromEntries(found.map((name) => [name, this.values.get(name)![index]!])),
      };
    });
  }

  static of(points: readonly TrackPoint[]): Track {
    const track = new Track();
    for (const { iteration, values } of [...points].sort((a, b) => a.iteration - b.iteration)) {
      track.iterations.push(iteration);
      for (const [name, column] of track.values) column.push(values[name] ?? Number.NaN);
    }
    return track;
  }
}

function columnsOf(metrics: Point['metrics']): Map<Column, number> {
  const found = new Map<Column, number>();
  for (const name of watched) {
    const value = metrics[name];
    if (typeof value !== 'number') continue;
    if (Number.isFinite(value)) found.set(name, value);
    found.set(broken, Number.isFinite(value) ? (found.get(broken) ?? 0) : 1);
  }
  // Any metric may be it: the loss isn't watched.
  if (Object.values(metrics).some((value) => typeof value === 'number' && !Number.isFinite(value)))
    found.set(broken, 1);
  return found;
}

function insert(values: number[], index: number, value: number): void {
  if (index === values.length) values.push(value);
  else values.splice(index, 0, value);
}

/** NaN of nothing, as the median is. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
