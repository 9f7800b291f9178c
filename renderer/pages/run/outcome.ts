import type { RunSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { panelHashes } from '../../../core/contract/panel-words.ts';
import { listWithAnd } from '../../../core/contract/sentence.ts';
import { evaluationLabels } from '../../charts/chart-specs.ts';
import type { RunSeries } from '../../charts/run-series.ts';
import { duration } from '../../components/format.ts';
import { elapsedSeconds, machineText } from '../../components/run-facts.ts';
import { environmentTitle } from '../../environments/registry.ts';

/** First and last success rate of the run's own evaluations on one environment, in [0, 1]. */
export interface Learned {
  label: string;
  first: { iteration: number; value: number };
  last: { iteration: number; value: number };
  best: { iteration: number; value: number };
  /** Change between the last two evaluations. */
  step: number;
}

/** Returns one entry per environment that was evaluated more than once. */
export function learnedIn(series: Pick<RunSeries, 'names' | 'get'>): Learned[] {
  return evaluationLabels(series.names()).flatMap(({ label }) => {
    const success = series.get(`evaluation/${label}/success_rate`);
    if (!success || success.length < 2) return [];
    const iterations = success.iterations();
    const points = Array.from(success.values(), (value, at) => ({ iteration: iterations[at]!, value }));
    const best = points.reduce((high, point) => (point.value >= high.value ? point : high));
    const last = points.at(-1)!;
    return [{ label, first: points[0]!, last, best, step: last.value - points.at(-2)!.value }];
  });
}

/**
 * Returns which part of the run a clip shows: up to the best evaluation, or to the last if none beat the first. The clip of a collapsed run
 * continues to the last evaluation, with the best one (`peak`) in between.
 */
export function clipRange({ first, best, last }: Learned, collapsed: boolean): { upTo: number; peak: number | null } {
  if (best.iteration <= first.iteration) return { upTo: last.iteration, peak: null };
  return collapsed && best.iteration < last.iteration
    ? { upTo: last.iteration, peak: best.iteration }
    : { upTo: best.iteration, peak: null };
}

/** Formats the first and last success rate: `35.9 → 74.2 %`. */
export const successChange = ({ first, last }: Learned) =>
  `${(first.value * 100).toFixed(1)} → ${(last.value * 100).toFixed(1)} %`;

/**
 * Describes the result: `success on 256 fixed levels (panel 1a2b3c4d), after 200 iterations in 6 min 12 s on CPU, 2 threads`. A
 * fork counts only its own iterations and time. `evaluatedAt`: the last evaluation of a run that is still training, whose time is not known.
 */
export function describeResult(run: RunSummary, levels: number | null, evaluatedAt: number | null = null): string {
  const elapsed = evaluatedAt === null ? elapsedSeconds(run) : null;
  const machine = machineText(run);
  const before = run.parent?.iteration ?? 0;
  const done = evaluatedAt ?? (run.status === 'completed' ? run.iterations : run.iteration);
  const iterations = count(Math.max(0, done - before), before > 0 ? 'more iteration' : 'iteration');
  const panel = panelHashes(run.panels);
  return [
    levels === null ? 'success' : `success on ${count(levels, 'fixed level')}${panel && ` (panel ${panel})`}`,
    `, after ${iterations}`,
    elapsed === null ? '' : ` in ${duration(elapsed)}`,
    machine && ` on ${machine}`,
  ].join('');
}

/** Returns the result as one sentence for sharing. */
export function resultSentence(run: RunSummary, learned: readonly Learned[], facts: string): string {
  const titles = run.environments.map(environmentTitle);
  const changes = learned.map((each) =>
    learned.length > 1 ? `${environmentTitle(each.label)} ${successChange(each)}` : successChange(each),
  );
  return `${listWithAnd(titles)}, ${run.algorithm}: ${changes.join(', ')} ${facts} (${run.task === 'imported' ? 'imported run' : 'StarPO Studio'}).`;
}
