import type { RunLabel, StudyCollapse, StudyPoint } from '../contract/contract.ts';
import { labelRun, type Point, ruleSeries } from '../echo-trap/collapse-rule.ts';
import { wilson } from '../echo-trap/score.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { prepared, preparedValue } from '../history/statements.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings } from '../run-config/settings.ts';

/** What became of complete runs, by the collapse rule and their stored series. A complete run changes no more, so each is read once. */
export class RunLabels {
  private readonly database: HistoryDatabase;
  private readonly known = new Map<string, { iteration: number; label: RunLabel | null }>();

  constructor(database: HistoryDatabase) {
    this.database = database;
  }

  /** Of a run of a study that is complete at an iteration; null where it is too short, or has no success. */
  of(
    runId: string,
    iteration: number,
    config: Record<string, unknown>,
    { set }: StudyPoint,
  ): RunLabel | null {
    const known = this.known.get(runId);
    if (known?.iteration === iteration) return known.label;
    const { groups, group_size: size } = rolloutOf(config, set);
    const label = labelRun(readPoints(this.database, runId), groups ?? 8, size);
    this.known.set(runId, { iteration, label });
    return label;
  }

  /** It is trained on, made anew or gone. */
  forget(runId: string): void {
    this.known.delete(runId);
  }
}

/** As far as a configuration says, whoever wrote the study's file. */
function rolloutOf(config: Record<string, unknown>, set: StudyPoint['set']): Partial<RunConfig['rollout']> {
  const rollout = (of: object) => (of as Partial<RunConfig>).rollout ?? {};
  try {
    return rollout(applySettings(config, set));
  } catch {
    return rollout(config);
  }
}

function readPoints(database: HistoryDatabase, runId: string): Point[] {
  const labels = preparedValue<[string], string>(
    database,
    'SELECT DISTINCT label FROM evaluations WHERE run = ?',
  ).all(runId);
  // One name at a time: only so is nothing read but what is wanted.
  const series = prepared<[string, string], { iteration: number; value: number }>(
    database,
    'SELECT iteration, value FROM metrics WHERE run = ? AND name = ?',
  );
  const points = new Map<number, Record<string, number>>();
  for (const name of [...ruleSeries, ...labels.map((label) => `evaluation/${label}/success_rate`)]) {
    for (const { iteration, value } of series.all(runId, name)) {
      const metrics = points.get(iteration) ?? {};
      metrics[name] = value;
      points.set(iteration, metrics);
    }
  }
  return [...points].sort(([a], [b]) => a - b).map(([iteration, metrics]) => ({ iteration, metrics }));
}

/** Null where there are no labels. */
export function collapseOf(labels: readonly RunLabel[]): StudyCollapse | null {
  const n = labels.length;
  if (n === 0) return null;
  const onsets = labels.flatMap(({ collapsed }) => collapsed ?? []).sort((a, b) => a - b);
  const kinds: StudyCollapse['kinds'] = {};
  for (const { kind } of labels) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { n, collapsed: onsets.length, ...wilson(onsets.length, n), onsets, kinds };
}
