import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RunSummary } from '../contract/contract.ts';
import { messageOf, runUnknown } from '../contract/failure.ts';
import { problemIn } from '../contract/issue-words.ts';
import { shortId } from '../contract/run-names.ts';
import { isOwnPreset } from '../presets/base.ts';
import { presets } from '../presets/presets.ts';
import { algorithmName } from '../run-config/estimators.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runIdPattern } from '../run-directory/names.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared, preparedValue } from './statements.ts';

/** A stored run. All columns follow from its run directory. */
export interface RunRow {
  id: string;
  name: string;
  preset: string;
  task: string;
  environments: string;
  iterations: number;
  created_at: number;
  status: 'created' | 'running' | 'paused' | 'stopped' | 'completed' | 'failed';
  iteration: number;
  started_at: number | null;
  ended_at: number | null;
  phase: string | null;
  failure: string | null;
  stop_reason: string | null;
  pid: number | null;
  host: string | null;
  journal_offset: number;
  last_seq: number;
  last_time: number | null;
  journal_problem: string | null;
  /** Longest gaps between events (ms) in the newest window of events and of the one before; see apply-event.ts. */
  gap: number;
  gap_before: number;
  device: string;
  annotations_bytes: number;
  annotations_problem: string | null;
  note: string;
  starred: 0 | 1;
  archived: 0 | 1;
  /** JSON: why the queue couldn't start the run, and when. */
  start_problem: string | null;
  /** JSON as in the run's summary. */
  parent: string;
  /** Name given by the user, or empty. */
  given_name: string;
  /** For example `StarPO-S (PPO)`. */
  algorithm: string;
  /** Training time in ms, without pauses and interruptions. */
  training_ms: number;
}

/** The keys of run.json that the history uses. */
const configSchema = z.looseObject({
  preset: z.string(),
  task: z.string(),
  iterations: z.int(),
  device: z.string().default('cpu'),
  environments: z.array(z.looseObject({ type: z.string() })),
  parent: z
    .looseObject({ run: z.string().regex(runIdPattern), iteration: z.int() })
    .nullable()
    .catch(null),
  start: z.looseObject({ run: z.string() }).optional().catch(undefined),
  filter: z.looseObject({ strategy: z.string() }).optional().catch(undefined),
  advantage: z.looseObject({ estimator: z.string() }).optional().catch(undefined),
  /** Only imported runs have this key; see docs/formats/imported-run.md. */
  imported: z.looseObject({ name: z.string() }).optional(),
});

/** Reads the keys of run.json that the history uses. Throws an error whose message completes "FOLDER can't be read: ...". */
export function readRunConfig(folder: string): z.infer<typeof configSchema> {
  const { config: name } = runFiles;
  let value: unknown;
  try {
    value = requireJsonFile(join(folder, name));
  } catch (error) {
    throw new Error(`${name} ${messageOf(error)}`);
  }
  const { config } = upgradeConfig(value);
  const { data, error } = configSchema.safeParse(config);
  if (data) return data;
  throw new Error(`${name} is not a run configuration: ${problemIn(config, error)}`);
}

/** Adds a run to the history, unless it has no readable run.json. Returns whether the history contains the run. */
export function addRun(database: HistoryDatabase, runId: string, folder: string): boolean {
  if (getRun(database, runId)) return true;
  let config: z.infer<typeof configSchema>;
  let created: number;
  try {
    config = readRunConfig(folder);
    created = Math.round(statSync(join(folder, runFiles.config)).mtimeMs);
  } catch {
    return false;
  }
  prepared(
    database,
    `INSERT INTO runs (id, name, preset, task, environments, iterations, created_at, device, parent, algorithm)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  ).run(
    runId,
    ownName(runId, config),
    config.preset,
    config.task,
    JSON.stringify(config.environments.map((each) => each.type)),
    config.iterations,
    created,
    config.device,
    JSON.stringify(parentOf(config)),
    algorithmOf(config),
  );
  return true;
}

/** Returns a run's parent. The iteration is null unless the run is a fork, even if run.json has one. */
function parentOf({ parent, start }: z.infer<typeof configSchema>): RunSummary['parent'] {
  return parent && { run: parent.run, iteration: start?.run === parent.run ? parent.iteration : null };
}

/** Returns the display name of the algorithm. */
function algorithmOf({ task, filter, advantage }: z.infer<typeof configSchema>): string {
  if (task === 'warm_start') return 'Warm start';
  if (!filter || !advantage) return 'Unknown';
  return algorithmName(advantage.estimator, filter.strategy !== 'none');
}

/** Returns the default name of a run. */
export const ownName = (runId: string, { imported, ...config }: { imported?: { name: string } | undefined } & Titled) =>
  imported?.name ?? defaultName(runId, config);

interface Titled {
  preset: string;
  environments: readonly Record<string, unknown>[];
}

/** Returns the preset's title and the short id. */
function defaultName(runId: string, config: Titled): string {
  const title = titleOf(config);
  return title === null ? runId : `${title} ${shortId(runId)}`;
}

function titleOf({ preset, environments }: Titled): string | null {
  const found = presets.find((each) => each.id === preset);
  if (found) return found.model ? `${found.title}, ${found.model.title},` : found.title;
  return isOwnPreset(preset) && environments[0] ? String(environments[0].label) : null;
}

export function getRun(database: HistoryDatabase, runId: string): RunRow | undefined {
  return prepared<[string], RunRow>(database, 'SELECT * FROM runs WHERE id = ?').get(runId);
}

/** Returns a run. Throws `run_unknown`. */
export function requireRun(database: HistoryDatabase, runId: string): RunRow {
  const row = getRun(database, runId);
  if (row) return row;
  throw runUnknown(runId);
}

/** Returns all runs, newest first. */
export function listRuns(database: HistoryDatabase): RunRow[] {
  return prepared<[], RunRow>(database, 'SELECT * FROM runs ORDER BY created_at DESC, id DESC').all();
}

/** Returns the ids of all runs, newest first. */
export function listRunIds(database: HistoryDatabase): string[] {
  return preparedValue<[], string>(database, 'SELECT id FROM runs ORDER BY created_at DESC, id DESC').all();
}

export function removeRun(database: HistoryDatabase, runId: string): void {
  prepared(database, 'DELETE FROM runs WHERE id = ?').run(runId);
}
