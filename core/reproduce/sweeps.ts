import type { Client } from '../contract/client.ts';
import { connectionLost } from '../contract/client.ts';
import type { Series, Settings, StudySummary } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { shortHash } from '../contract/panel-words.ts';
import { metricsOf, type RunResult } from './measure.ts';
import type { Measure, PaperSweep } from './paper-study.ts';
import type { SweepResult } from './report.ts';

/** How sweeps of a paper are named and shortened in a data folder. */
export interface SweepPlan {
  /** Prefix of preset names: `starter`. */
  model: string;
  nameOf: (sweep: PaperSweep) => string;
  /** Further changes for a setting. */
  changes: (sweep: PaperSweep, own: Settings) => Settings;
}

const pointsOf = ({ changes }: SweepPlan, sweep: PaperSweep) =>
  sweep.points.map(({ name, set }) => ({ name, set: { ...set, ...changes(sweep, set) } }));

/** Returns the id of the sweep in the data folder; creates it if none has the same name, settings, seeds and iterations. */
export async function ensureSweep(client: Client, plan: SweepPlan, sweep: PaperSweep): Promise<string> {
  const name = plan.nameOf(sweep);
  const points = pointsOf(plan, sweep);
  const seeds = Array.from({ length: sweep.seeds }, (_, index) => index + 1);
  for (const summary of await client.call('studies.list', {})) {
    if (summary.name !== name || summary.seeds.join() !== seeds.join()) continue;
    const { table } = await client.call('studies.get', { studyId: summary.id });
    const alike = table.every(
      ({ set, cells }, at) =>
        isEqual(set, points[at]?.set ?? {}) &&
        cells.every(({ iterations }) => iterations === Number(points[at]?.set.iterations ?? sweep.set.iterations)),
    );
    if (alike && table.length === points.length) return summary.id;
  }
  const base = { preset: `${plan.model}-${sweep.preset}` };
  const { id } = await client.call('studies.create', { name, base, set: { ...sweep.set }, points, seeds });
  return id;
}

function isEqual(a: Settings, b: Settings): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/**
 * Queues the runs of sweeps that have not completed, and resolves when none is active. `onSweepEnd` is called after each sweep, one call at a
 * time. Throws the problem that blocks the queue, `connection_lost`, or as `onSweepEnd` does.
 */
export async function trainSweeps(
  client: Client,
  ids: readonly string[],
  onSweepEnd: () => Promise<void>,
): Promise<void> {
  const summaries = await client.call('studies.list', {});
  const unfinished = ids.filter((id) => summaries.find((each) => each.id === id)?.state !== 'completed');
  for (const studyId of unfinished) await client.call('studies.start', { studyId });
  const active = new Set(unfinished);
  let writing = onSweepEnd();
  const ended = new Promise<void>((resolve, reject) => {
    const end = ({ id, state }: StudySummary) => {
      if (state === 'active' || !active.delete(id)) return;
      writing = writing.then(onSweepEnd);
      writing.catch(reject);
      if (active.size === 0) resolve();
    };
    const refresh = async () => {
      for (const each of await client.call('studies.list', {})) end(each);
      const { problem } = await client.call('queue.list', {});
      if (problem) throw new Failure(problem.code, problem.message, problem.hint);
    };
    const check = () => void refresh().catch(reject);
    client.on('study', ({ summary }) => summary && end(summary));
    client.on('queue', check);
    client.on('missed', check);
    client.onClose(() => reject(connectionLost()));
    if (active.size === 0) resolve();
    else client.call('queue.work', {}).then(check, reject);
  });
  await ended;
  await writing;
}

/** Returns the results of a sweep's completed runs, with the metrics that the measures read. */
export async function sweepResult(client: Client, id: string, measures: readonly Measure[]): Promise<SweepResult> {
  const { summary, table } = await client.call('studies.get', { studyId: id });
  const names = [...new Set(measures.flatMap(metricsOf))];
  const runs = new Map<string, RunResult[]>();
  const panels = new Set<string>();
  for (const { name, cells, panels: ofPoint } of table) {
    for (const panel of ofPoint) panels.add(`${panel.label} ${shortHash(panel.hash)}`);
    for (const { runId, seed, finished, label } of cells) {
      if (!finished) continue;
      const series = await client.call('runs.series', { runId, names, resolution: 16_384 });
      const byName = new Map<string, Series>(series.map((each) => [each.name, each]));
      runs.set(name, [
        ...(runs.get(name) ?? []),
        { seed, series: byName, collapsed: label ? label.collapsed : undefined },
      ]);
    }
  }
  const ids = new Set(table.flatMap(({ cells }) => cells.flatMap(({ runId, finished }) => (finished ? [runId] : []))));
  const all = await client.call('runs.list', {});
  const trainers = all.flatMap(({ id, machine }) => (machine && ids.has(id) ? [machine] : []));
  const { completed, total, failed } = summary.runs;
  return { id, completed, total, failed, runs, panels: [...panels].sort(), trainers };
}
