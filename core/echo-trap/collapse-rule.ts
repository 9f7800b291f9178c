/** docs/collapse-rule.md as code: what a run's label is. It knows nothing of the detectors, which are measured by it. */

export const kinds = ['template', 'chaos', 'locked', 'healthy', 'solved', 'declining'] as const;
export type Kind = (typeof kinds)[number];

/** `collapsed`: the onset's iteration, or null. */
export interface Label {
  collapsed: number | null;
  kind: Kind;
}

export interface Point {
  iteration: number;
  metrics: Record<string, number>;
}

/** Of the window's success: lost where it is under half of the peak; the loss begins where it goes under four fifths. */
const lost = 0.5;
const losing = 0.8;
const least = 0.15;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Iterations of a window that holds at least 80 levels. */
export const windowOf = (groups: number) => Math.max(10, Math.ceil(80 / groups));

/**
 * The label of a whole run, or null for one that is too short or has no success to read.
 *
 * `points`: ascending, one an iteration; iteration 0 may bring the evaluation before training. `groups`: rollout.groups. `groupSize`: rollout.group_size.
 */
export function labelRun(points: readonly Point[], groups: number, groupSize = 16): Label | null {
  const window = windowOf(groups);
  const trained = points.filter(
    ({ iteration, metrics }) => iteration > 0 && Number.isFinite(metrics['rollout/success_rate']),
  );
  if (trained.length < 4 * window) return null;
  const series = (name: string, from: number, to: number) =>
    trained.slice(Math.max(0, from), to).flatMap(({ metrics }) => metrics[name] ?? []);
  const success = series('rollout/success_rate', 0, trained.length);

  const before = successBefore(points) ?? 0;
  if (before >= least && mean(success.slice(0, window)) < lost * before)
    return { collapsed: trained[0]!.iteration, kind: wayOfDying(series, window, 0, window) };
  let peak = 0;
  /** Index after the last one at which nothing was being lost. */
  let onset = 0;
  let now = 0;
  for (let end = window; end <= success.length; ++end) {
    now = mean(success.slice(end - window, end));
    peak = Math.max(peak, now);
    if (peak >= least && now < lost * peak)
      return { collapsed: trained[onset]!.iteration, kind: wayOfDying(series, window, onset, end) };
    if (now >= losing * peak) onset = Math.min(end, trained.length - 1);
  }

  const last = success.length;
  if (mean(success.slice(-20)) >= 0.95) return { collapsed: null, kind: 'solved' };
  if (now < losing * peak) return { collapsed: null, kind: 'declining' };
  const shares = series('rollout/template_share', last - 30, last);
  const distinct = series('rollout/distinct_first_thoughts', last - 30, last);
  const oneThought =
    shares.length > 0 ? mean(shares) >= 0.9 : distinct.length > 0 && mean(distinct) <= 1.5 / groupSize;
  const moved = Math.abs(mean(success.slice(-15)) - mean(success.slice(-30, -15)));
  return { collapsed: null, kind: oneThought && moved < 0.05 ? 'locked' : 'healthy' };
}

/** Mean over environments of the evaluation before the first iteration. */
function successBefore(points: readonly Point[]): number | null {
  const start = points.find(({ iteration }) => iteration === 0)?.metrics ?? {};
  const values = Object.entries(start)
    .filter(([name]) => /^evaluation\/[^/]+\/success_rate$/.test(name))
    .map(([, value]) => value);
  return values.length > 0 ? mean(values) : null;
}

/** Between indices `onset` and `end`. */
function wayOfDying(
  series: (name: string, from: number, to: number) => number[],
  window: number,
  onset: number,
  end: number,
): Kind {
  const valid = series('rollout/format_valid_rate', onset, end);
  const before = series('rollout/format_valid_rate', 0, Math.max(onset, window));
  const best = Math.max(
    ...before.map((_, index) => mean(before.slice(Math.max(0, index - window + 1), index + 1))),
  );
  if (valid.length > 0 && mean(valid) < 0.8 * best) return 'chaos';
  const entropy = series('rollout/entropy', onset, end);
  const first = series('rollout/entropy', 0, window);
  if (entropy.length > 0 && first.length > 0 && mean(entropy) > 1.5 * mean(first)) return 'chaos';
  return 'template';
}
