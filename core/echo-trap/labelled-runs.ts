import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { parseEvent } from '../run-directory/events.ts';
import { meaningOf, measured } from '../run-directory/meaning.ts';
import { runFiles } from '../run-directory/names.ts';
import { labelRun } from './collapse-rule.ts';
import type { Point } from './track.ts';

const label = z.looseObject({
  /** Iteration of the onset; null where it didn't collapse. */
  collapsed: z.number().int().min(0).nullable(),
  kind: z.string(),
});

/** A run with what became of it. */
export interface LabelledRun {
  name: string;
  config: unknown;
  points: Point[];
  collapsed: number | null;
  /** `template` or `chaos` where it collapsed; else `locked`, `healthy`, `solved` or `declining`. */
  kind: string;
  /** What it was trained on and by, for tables. */
  environment: string;
  algorithm: string;
  /** The same for runs that learn in the same way from other seeds. */
  settings: string;
}

/**
 * Run directories in a folder, each with a label.json or else labelled by the rule (docs/collapse-rule.md). Throws `labelled_runs_missing` where there is no
 * run, and `labelled_run_invalid` where one can't be read.
 */
export function readLabelledRuns(folder: string): LabelledRun[] {
  const names = foldersIn(folder).filter((name) => journalIn(join(folder, name)) !== null);
  if (names.length > 0) return names.flatMap((name) => readLabelledRun(join(folder, name)) ?? []);
  throw new Failure(
    'labelled_runs_missing',
    `There are no run directories in ${folder}.`,
    'Name a folder whose subfolders are runs (run.json and events.jsonl, with or without label.json), or one with `tuning` and `held-out`.',
  );
}

export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory())
      .sort();
  } catch {
    return [];
  }
}

/** Null for a run that has no label and is too short for one. */
export function readLabelledRun(folder: string): LabelledRun | null {
  const name = basename(folder);
  const config = upgradeConfig(readJson(folder, runFiles.config)).config;
  const points = readPoints(journalIn(folder) ?? join(folder, runFiles.journal));
  const { environments = [], rollout } = config as Partial<RunConfig>;
  const said = existsSync(join(folder, 'label.json'))
    ? label.safeParse(readJson(folder, 'label.json'))
    : null;
  if (said && !said.success)
    throw invalid(
      folder,
      `label.json: ${said.error.issues[0]!.path.join('.')} ${said.error.issues[0]!.message}`,
    );
  const found = said?.data ?? labelRun(points, rollout?.groups ?? 8, rollout?.group_size);
  if (!found) return null;
  return {
    name,
    config,
    points,
    collapsed: found.collapsed,
    kind: found.kind,
    environment: environments.map(({ type }) => type).join(' + ') || 'unknown',
    algorithm: algorithmOf(config as Partial<RunConfig>),
    settings: settingsOf(config as Partial<RunConfig>),
  };
}

/** What a policy learns from and how; not what is evaluated and kept of it. */
function settingsOf(config: Partial<RunConfig>): string {
  const { environments, rollout, reward, filter, advantage, policy_loss, optimizer, critic, kl } = config;
  return JSON.stringify([
    environments,
    rollout,
    reward,
    filter,
    advantage,
    policy_loss,
    optimizer,
    critic,
    kl,
  ]);
}

function algorithmOf({ advantage, filter }: Partial<RunConfig>): string {
  if (!advantage) return 'unknown';
  const names: Record<string, string> = { gae: 'PPO', grpo: 'GRPO', dr_grpo: 'Dr. GRPO', rloo: 'RLOO' };
  const name = names[advantage.estimator] ?? advantage.estimator;
  return filter && filter.strategy !== 'none' && filter.keep < 1 ? `StarPO-S (${name})` : name;
}

/** Kept journals are packed: nothing reads them but this. */
const packed = '.zst';
/** Far above what a run of weeks has. */
const journalLimit = 2 ** 30;

function journalIn(folder: string): string | null {
  const plain = join(folder, runFiles.journal);
  return [plain, plain + packed].find((path) => existsSync(path)) ?? null;
}

/** A journal's metrics by iteration, without what a resumed trainer did again. */
export function readPoints(journal: string): Point[] {
  const points = new Map<number, Record<string, number>>();
  const bytes = readFileSync(journal);
  const text = journal.endsWith(packed)
    ? zstdDecompressSync(bytes, { maxOutputLength: journalLimit })
    : bytes;
  for (const line of text.toString('utf8').split('\n')) {
    const event = line === '' ? null : parseEvent(line);
    if (!event) continue;
    const { begins, metrics } = meaningOf(event);
    if (begins) for (const iteration of points.keys()) if (iteration > begins.after) points.delete(iteration);
    if (metrics) points.set(metrics.iteration, { ...points.get(metrics.iteration), ...measured(metrics) });
  }
  return [...points].sort(([a], [b]) => a - b).map(([iteration, metrics]) => ({ iteration, metrics }));
}

function readJson(folder: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } catch (error) {
    throw invalid(folder, `${file}: ${error instanceof Error ? error.message : error}`);
  }
}

const invalid = (folder: string, reason: string) =>
  new Failure(
    'labelled_run_invalid',
    `The labelled run ${folder} can't be read: ${reason}.`,
    'A label.json holds {"collapsed": iteration or null, "kind": "template", "chaos", "locked", "healthy", "solved" or "declining"}; without one the run is labelled by the rule.',
  );
