import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { locate, type Tree } from '../run-config/tree.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { parseEvent } from '../run-directory/events.ts';
import { meaningOf, measured } from '../run-directory/meaning.ts';
import { runFiles } from '../run-directory/names.ts';
import { kinds, kindsOfCollapse, labelRun } from './collapse-rule.ts';
import type { Point } from './track.ts';

const label = z
  .looseObject({
    /** Iteration of the onset; null where it didn't collapse. */
    collapsed: z.number().int().min(0).nullable(),
    kind: z.enum(kinds, `is none of ${kinds.join(', ')}`),
  })
  .refine(({ collapsed, kind }) => (collapsed !== null) === kindsOfCollapse.includes(kind), {
    path: ['kind'],
    error: ({ input }) => {
      const { collapsed, kind } = input as { collapsed: number | null; kind: string };
      return collapsed === null
        ? `is ${kind}, which is a way to collapse, where \`collapsed\` is null`
        : `is ${kind} for a run that collapsed, where it has to be ${kindsOfCollapse.join(' or ')}`;
    },
  });

/** As much of run.json as labels and tables need; a run of another trainer says less. */
const readable = z.looseObject({
  environments: z.array(z.looseObject({ type: z.string() })).optional(),
  rollout: z
    .looseObject({ groups: z.number().positive().optional(), group_size: z.number().positive().optional() })
    .optional(),
  advantage: z.looseObject({ estimator: z.string() }).optional(),
  filter: z.looseObject({}).optional(),
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

/** What is in a folder of runs, by their names. */
export interface LabelledRuns {
  runs: LabelledRun[];
  /** Those without a label that are too short for one. */
  leftOut: string[];
  /** How many whole lines of a run's journal can't be read as events, where there are any. */
  passedOver: Record<string, number>;
}

/**
 * Run directories in a folder, each with a label.json or else labelled by the rule (docs/collapse-rule.md). Throws `labelled_runs_missing` where there is no
 * run or all are left out, and `labelled_run_invalid` where one can't be read.
 */
export function readLabelledRuns(folder: string): LabelledRuns {
  const names = foldersIn(folder).filter((name) => isRunFolder(join(folder, name)));
  if (names.length === 0)
    throw new Failure(
      'labelled_runs_missing',
      `There are no run directories in ${folder}.`,
      'Name a folder whose subfolders are runs (run.json and events.jsonl, with or without label.json), one with `tuning` and `held-out`, or a data folder.',
    );
  const found: LabelledRuns = { runs: [], leftOut: [], passedOver: {} };
  for (const name of names) {
    const passOver = () => {
      found.passedOver[name] = (found.passedOver[name] ?? 0) + 1;
    };
    const run = readLabelledRun(join(folder, name), passOver);
    if (run) found.runs.push(run);
    else found.leftOut.push(name);
  }
  if (found.runs.length > 0) return found;
  throw new Failure(
    'labelled_runs_missing',
    `No run in ${folder} can be judged: ${leftOutInWords(found)}`,
    'The rule needs 40 iterations with success at least, more where an iteration has fewer than 8 groups (docs/collapse-rule.md). Train them further, or give each a label.json.',
  );
}

/** Sentences on what wasn't read; empty where all was. */
export function leftOutInWords({ leftOut, passedOver }: LabelledRuns): string {
  const runs = `${leftOut.length} ${leftOut.length === 1 ? 'run' : 'runs'}`;
  const lines = Object.entries(passedOver).map(([name, count]) => `${count} of ${name}`);
  return [
    ...(leftOut.length > 0
      ? [`${runs} left out: too short for the rule, and without a label.json (${leftOut.join(', ')}).`]
      : []),
    ...(lines.length > 0
      ? [`Lines of journals that can't be read were passed over: ${lines.join(', ')}.`]
      : []),
  ].join(' ');
}

/** A name with a dot in front is a run that is just being made, or the rest of one. */
export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory())
      .sort();
  } catch {
    return [];
  }
}

/** Null for a run that has no label and is too short for one. `passOver` hears of each whole line of the journal that can't be read. */
export function readLabelledRun(folder: string, passOver: () => void = () => {}): LabelledRun | null {
  const name = basename(folder);
  const config = readConfig(folder);
  const { environments = [], rollout } = checked(folder, runFiles.config, readable, config);
  const points = pointsIn(folder, passOver);
  const said = existsSync(join(folder, labelFile))
    ? checked(folder, labelFile, label, readJson(folder, labelFile))
    : null;
  const last = points.at(-1)?.iteration ?? 0;
  if (said && (said.collapsed ?? 0) > last)
    throw invalid(
      folder,
      labelFile,
      `collapsed is ${said.collapsed}, and the run ends with iteration ${last}`,
    );
  const found = said ?? labelRun(points, rollout?.groups ?? 8, rollout?.group_size);
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

/** A run.json that stores only what differs from a base configuration: `set` maps dotted paths to values. */
const difference = z.strictObject({ base: z.string(), set: z.record(z.string(), z.unknown()) });

/** The whole configuration of a labelled run, in the current version. `base` is a path relative to the run directory. */
function readConfig(folder: string): unknown {
  const value = readJson(folder, runFiles.config);
  if (!(value as Tree | null)?.base) return upgradeConfig(value).config;
  const { base, set } = checked(folder, runFiles.config, difference, value);
  const config = readJson(folder, base) as Tree;
  for (const [path, setting] of Object.entries(set)) {
    const place = locate(config, path);
    if (!place) throw invalid(folder, runFiles.config, `${base} has no setting ${path}`);
    place.parent[place.key] = setting;
  }
  return upgradeConfig(config).config;
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

/** As far as labels are concerned: it has a journal, packed or not. */
export const isRunFolder = (folder: string) => journalIn(folder) !== null;

function journalIn(folder: string): string | null {
  const plain = join(folder, runFiles.journal);
  return [plain, plain + packed].find((path) => existsSync(path)) ?? null;
}

function pointsIn(folder: string, passOver: () => void): Point[] {
  const journal = journalIn(folder) ?? join(folder, runFiles.journal);
  try {
    return readPoints(journal, passOver);
  } catch (error) {
    throw invalid(folder, basename(journal), error instanceof Error ? error.message : String(error));
  }
}

/** A journal's metrics by iteration, without what a resumed trainer did again. `passOver` hears of each whole line that can't be read. */
export function readPoints(journal: string, passOver: () => void = () => {}): Point[] {
  const points = new Map<number, Record<string, number>>();
  const bytes = readFileSync(journal);
  const text = journal.endsWith(packed)
    ? zstdDecompressSync(bytes, { maxOutputLength: journalLimit })
    : bytes;
  const lines = text.toString('utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const event = parseEvent(line);
    if (!event) {
      // What comes after the last end of a line is still being written, or was cut off.
      if (index < lines.length - 1) passOver();
      continue;
    }
    const { begins, metrics } = meaningOf(event);
    if (begins) for (const iteration of points.keys()) if (iteration > begins.after) points.delete(iteration);
    if (metrics) points.set(metrics.iteration, { ...points.get(metrics.iteration), ...measured(metrics) });
  }
  return [...points].sort(([a], [b]) => a - b).map(([iteration, metrics]) => ({ iteration, metrics }));
}

const labelFile = 'label.json';

function readJson(folder: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } catch (error) {
    throw invalid(folder, file, error instanceof Error ? error.message : String(error));
  }
}

function checked<Schema extends z.ZodType>(
  folder: string,
  file: string,
  schema: Schema,
  value: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw invalid(folder, file, `${issue.path.join('.')} ${issue.message}`.trim());
}

const hints: Record<string, string> = {
  [labelFile]:
    'A label.json holds {"collapsed": iteration, "kind": "template" or "chaos"}, or {"collapsed": null, "kind": "locked", "healthy", "solved" or "declining"}; without one the run is labelled by the rule.',
  [runFiles.config]:
    'A run directory has the run.json that it was trained by. Put it back, or take the run out.',
};

const invalid = (folder: string, file: string, reason: string) =>
  new Failure(
    'labelled_run_invalid',
    `The labelled run ${folder} can't be read: ${file}: ${reason}.`,
    hints[file] ?? 'Take another copy of the run, or take it out.',
  );
