import { evaluatedLabel } from '../contract/run-facts.ts';

/** Metrics of one iteration. Evaluation metrics may arrive separately. */
export interface Point {
  iteration: number;
  metrics: Readonly<Record<string, number>>;
}

/** One iteration of a track: {@link watched} metrics plus `evaluated` and `broken`. */
export interface TrackPoint {
  iteration: number;
  values: Record<string, number>;
}

/** Metrics that detectors read (docs/formats/metrics.md). */
export const watched = [
  'rollout/success_rate',
  'rollout/reward_mean',
  'rollout/random_success_logprob',
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

/** Extra columns: mean success over the evaluation sets, and 1 if a metric was not finite. */
export const evaluated = 'evaluation';
export const broken = 'broken';
type Column = Watched | typeof evaluated | typeof broken;
const columns: readonly Column[] = [...watched, evaluated, broken];

/** The series of one run, ordered by iteration. Missing values are NaN. */
export class Track {
  readonly iterations: number[] = [];
  private readonly values = new Map<Column, number[]>(columns.map((name) => [name, []]));
  /** Success per evaluation set, by iteration and label. */
  private readonly evaluations = new Map<number, Map<string, number>>();

  get length(): number {
    return this.iterations.length;
  }

  /** Adds a point, or overwrites its metrics if the iteration exists. Returns the first changed index, or null if nothing changed. */
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
    // Only the first evaluation is used, so later ones change nothing.
    const isIdle = isKnown && index > 0 && found.size === 1 && found.has(evaluated);
    return isIdle ? null : index;
  }

  /** Adds evaluation results. Returns the mean over all sets of the iteration, or null if there are none. */
  private evaluate(iteration: number, metrics: Point['metrics']): number | null {
    const results = Object.entries(metrics).flatMap(([name, value]): [string, number][] => {
      const label = evaluatedLabel(name);
      return label !== undefined && Number.isFinite(value) ? [[label, value]] : [];
    });
    if (results.length === 0) return null;
    const sets = new Map([...(this.evaluations.get(iteration) ?? []), ...results]);
    this.evaluations.set(iteration, sets);
    return mean([...sets.values()]);
  }

  /** Removes everything after an iteration. */
  truncate(iteration: number): void {
    let length = this.length;
    while (length > 0 && this.iterations[length - 1]! > iteration) length -= 1;
    this.iterations.length = length;
    for (const at of this.evaluations.keys()) if (at > iteration) this.evaluations.delete(at);
    for (const values of this.values.values()) values.length = length;
  }

  /** Returns NaN if missing. */
  at(name: Watched, index: number): number {
    return this.values.get(name)![index] ?? Number.NaN;
  }

  /** Returns whether any metric was not finite. */
  isBroken(index: number): boolean {
    return this.values.get(broken)![index] === 1;
  }

  /** Returns whether the iteration had training episodes. Iterations with non-finite metrics count, because their rollout metrics may be missing. */
  isPlayed(index: number): boolean {
    return this.isBroken(index) || played.some((name) => !Number.isNaN(this.at(name, index)));
  }

  /** Returns the success of the initial evaluation over the included sets, or NaN. */
  firstEvaluation(includes: (label: string) => boolean): number {
    const sets = this.evaluations.get(this.iterations[0] ?? Number.NaN);
    if (!sets) return this.values.get(evaluated)![0] ?? Number.NaN;
    return mean([...sets].flatMap(([label, success]) => (includes(label) ? success : [])));
  }

  /** Returns the last `count` values up to an index, oldest first. Gaps are skipped, within at most 4 * count iterations. */
  recent(name: Watched, index: number, count: number): number[] {
    const values = this.values.get(name)!;
    return this.recentIndices(name, index, count).map((i) => values[i]!);
  }

  /** Returns the indices of those values. */
  recentIndices(name: Watched, index: number, count: number): number[] {
    const values = this.values.get(name)!;
    const oldest = Math.max(0, index - 4 * count + 1);
    const found: number[] = [];
    for (let i = index; i >= oldest && found.length < count; i -= 1) if (!Number.isNaN(values[i]!)) found.push(i);
    return found.reverse();
  }

  /** Returns all points; {@link Track.of} restores the same track. */
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
  // Also checks metrics that are not watched, such as the loss.
  if (Object.values(metrics).some((value) => typeof value === 'number' && !Number.isFinite(value)))
    found.set(broken, 1);
  return found;
}

function insert(values: number[], index: number, value: number): void {
  if (index === values.length) values.push(value);
  else values.splice(index, 0, value);
}

/** Returns the mean, or NaN if empty. */
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
