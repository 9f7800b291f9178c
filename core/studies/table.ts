import type { Output, RunStatus, StudyCell, StudyRow, StudyState, StudySummary } from '../contract/contract.ts';
import { lastIterations } from '../contract/study-words.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { evaluationPanels } from '../history/queries.ts';
import { prepared, preparedValue } from '../history/statements.ts';
import { type StudyFile, studyRunId } from '../run-sync/study-files.ts';
import { estimateShare } from './interval.ts';
import { collapseOf, type RunLabels } from './labels.ts';

/** Returns the state of a run, or null if it does not exist. */
export type StateOf = (
  runId: string,
) => { status: RunStatus; finished: boolean; iteration: number; iterations: number } | null;

const activeStatuses: readonly string[] = ['queued', 'running', 'paused'];
export const isActive = (status: string) => activeStatuses.includes(status);

export function summarize(id: string, file: StudyFile, stateOf: StateOf): StudySummary {
  const states = file.points.flatMap((_, point) => file.seeds.map((seed) => stateOf(studyRunId(id, point, seed))));
  const statuses = states.map((state) => state?.status ?? 'missing');
  const count = (matches: (status: string) => boolean) => statuses.filter(matches).length;
  const runs = {
    total: statuses.length,
    completed: states.filter((state) => state?.finished).length,
    active: count(isActive),
    failed: count((status) => status === 'failed'),
  };
  const isNew = statuses.every((status) => status === 'missing' || status === 'created');
  const { name, created, base, environment, points, seeds } = file;
  return {
    ...{ id, name, created, base, environment, seeds, runs },
    points: points.map((point) => point.name),
    state: progressOf(runs, isNew),
  };
}

function progressOf({ total, completed, active }: StudySummary['runs'], isNew: boolean): StudyState {
  if (active > 0) return 'active';
  if (completed === total) return 'completed';
  return isNew ? 'created' : 'incomplete';
}

/** Returns the results of all runs of a sweep, with estimates per setting. */
export function tabulate(
  database: HistoryDatabase,
  id: string,
  file: StudyFile,
  stateOf: StateOf,
  labels: RunLabels,
): Output<'studies.get'>['table'] {
  return file.points.map((point, index): StudyRow => {
    const { name, set } = point;
    const cells = file.seeds.map((seed): StudyCell => {
      const cell = cellOf(database, file, studyRunId(id, index, seed), seed, stateOf);
      const { runId, finished, iteration } = cell;
      if (finished) return { ...cell, label: labels.of(runId, iteration) };
      labels.forget(runId);
      return { ...cell, label: null };
    });
    const finished = cells.filter((cell) => cell.finished);
    return {
      ...{ name, set, cells, panels: panelsOf(database, cells) },
      before: estimateShare(cells.flatMap(({ before }) => before ?? [])),
      after: estimateShare(finished.flatMap(({ after }) => after ?? [])),
      training: estimateShare(finished.flatMap(({ training }) => training ?? [])),
      collapse: collapseOf(finished.flatMap(({ label }) => label ?? [])),
    };
  });
}

/** Returns the panels of the runs of a setting, each once. */
function panelsOf(database: HistoryDatabase, cells: readonly StudyCell[]): StudyRow['panels'] {
  const panels = cells.flatMap(({ runId }) => evaluationPanels(database, runId));
  return [...new Map(panels.map((panel) => [`${panel.label} ${panel.hash}`, panel])).values()];
}

function cellOf(
  database: HistoryDatabase,
  { environment, config }: StudyFile,
  runId: string,
  seed: number,
  stateOf: StateOf,
): Omit<StudyCell, 'label'> {
  const run = stateOf(runId);
  if (!run) {
    const iterations = Number(config.iterations);
    const noResults = { before: null, after: null, training: null };
    return { runId, seed, status: 'missing', finished: false, iteration: 0, iterations, ...noResults };
  }
  const evaluated = prepared<[string, string], { iteration: number; success: number | null }>(
    database,
    `SELECT iteration, json_extract(metrics, '$."evaluation/' || label || '/success_rate"') AS success
     FROM evaluations WHERE run = ? AND label = ? ORDER BY iteration`,
  ).all(runId, environment);
  const first = evaluated[0];
  const last = evaluated.at(-1);
  return {
    ...{ runId, seed, ...run },
    before: first?.success ?? null,
    after: last === first ? null : (last?.success ?? null),
    training:
      trainingSuccess(database, runId, `rollout/${environment}/success_rate`) ??
      trainingSuccess(database, runId, 'rollout/success_rate'),
  };
}

/** Returns null without the metric: a run with a single environment has no metrics per environment. */
function trainingSuccess(database: HistoryDatabase, runId: string, metric: string): number | null {
  const mean = preparedValue<[string, string, number], number | null>(
    database,
    'SELECT avg(value) FROM (SELECT value FROM metrics WHERE run = ? AND name = ? ORDER BY iteration DESC LIMIT ?)',
  );
  return mean.get(runId, metric, lastIterations) ?? null;
}
