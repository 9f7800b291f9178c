import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { Failure, messageOf } from '../contract/failure.ts';
import { problemIn } from '../contract/issue-words.ts';
import { count } from '../contract/numbers.ts';
import { listWithOr } from '../contract/sentence.ts';
import { algorithmName } from '../run-config/estimators.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { locate, type Tree } from '../run-config/tree.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { meaningOf, parseEvent } from '../run-directory/events.ts';
import { measured } from '../run-directory/meaning.ts';
import { runFiles } from '../run-directory/names.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';
import { kinds, kindsOfCollapse, labelRun } from './collapse-rule.ts';
import type { Point } from './track.ts';

const label = z
  .looseObject({
    /** Iteration of the onset; null if the run did not collapse. */
    collapsed: z.int().min(0).nullable(),
    kind: z.enum(kinds),
  })
  .refine(({ collapsed, kind }) => (collapsed !== null) === kindsOfCollapse.includes(kind), {
    path: ['kind'],
    error: ({ input }) => {
      const { collapsed } = input as { collapsed: number | null };
      return collapsed === null
        ? `must not be ${listWithOr(kindsOfCollapse)} if \`collapsed\` is null`
        : `must be ${listWithOr(kindsOfCollapse)} if \`collapsed\` is an iteration`;
    },
  });

/** The part of run.json that labels and tables need. Runs of other trainers have less. */
const readable = z.looseObject({
  environments: z.array(z.looseObject({ type: z.string() })).optional(),
  rollout: z
    .looseObject({ groups: z.number().positive().optional(), group_size: z.number().positive().optional() })
    .optional(),
  advantage: z.looseObject({ estimator: z.string() }).optional(),
  filter: z.looseObject({}).optional(),
});

/** A run with its outcome. */
export interface LabeledRun {
  name: string;
  config: unknown;
  points: Point[];
  collapsed: number | null;
  /** `template` or `chaos` if it collapsed; otherwise `locked`, `healthy`, `solved` or `declining`. */
  kind: string;
  /** Environment and algorithm, for tables. */
  environment: string;
  algorithm: string;
  /** Identifies the training settings; equal for runs that differ only in seed. */
  settings: string;
}

/** The runs in a folder. */
export interface LabeledRuns {
  runs: LabeledRun[];
  /** Runs without a label that are too short for the rule. */
  skipped: string[];
  /** Number of unreadable journal lines per run, if any. */
  unreadableLines: Record<string, number>;
}

/**
 * Reads the run directories in a folder. Each has a label.json or is labeled by the rule (docs/collapse-rule.md). Throws `labeled_runs_missing` if no run
 * can be labeled, and `labeled_run_invalid` if one cannot be read.
 */
export function readLabeledRuns(folder: string): LabeledRuns {
  const names = foldersIn(folder).filter((name) => isRunFolder(join(folder, name)));
  if (names.length === 0)
    throw new Failure(
      'labeled_runs_missing',
      `No run folders found in ${folder}.`,
      'Give a folder of runs (each with run.json and events.jsonl, label.json optional), a folder with `tuning` and `held-out`, or a data folder.',
    );
  const found: LabeledRuns = { runs: [], skipped: [], unreadableLines: {} };
  for (const name of names) {
    const onUnreadable = () => {
      found.unreadableLines[name] = (found.unreadableLines[name] ?? 0) + 1;
    };
    const run = readLabeledRun(join(folder, name), onUnreadable);
    if (run) found.runs.push(run);
    else found.skipped.push(name);
  }
  if (found.runs.length > 0) return found;
  throw new Failure(
    'labeled_runs_missing',
    `No run in ${folder} can be labeled: ${skippedInWords(found)}`,
    'The rule needs at least 40 iterations with success, more with fewer than 8 groups per iteration (docs/collapse-rule.md). Train longer or add a label.json.',
  );
}

/** Describes skipped runs and unreadable lines; empty if there are none. */
export function skippedInWords({ skipped, unreadableLines }: LabeledRuns): string {
  const runs = count(skipped.length, 'run');
  const lines = Object.entries(unreadableLines).map(([name, count]) => `${count} of ${name}`);
  return [
    ...(skipped.length > 0
      ? [`${runs} skipped: too short for the rule or without success, and without label.json (${skipped.join(', ')}).`]
      : []),
    ...(lines.length > 0 ? [`Unreadable journal lines skipped: ${lines.join(', ')}.`] : []),
  ].join(' ');
}

/** Lists subfolders. Names with a leading dot are runs being created, or leftovers. */
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

/** Returns null for a run without a label that is too short for the rule. `onUnreadable` is called per unreadable journal line. */
export function readLabeledRun(folder: string, onUnreadable: () => void = () => {}): LabeledRun | null {
  const name = basename(folder);
  const config = readConfig(folder);
  const { environments = [], rollout } = checked(folder, runFiles.config, readable, config);
  const points = pointsIn(folder, onUnreadable);
  const given = existsSync(join(folder, labelFile))
    ? checked(folder, labelFile, label, readJson(folder, labelFile))
    : null;
  const last = points.at(-1)?.iteration ?? 0;
  if (given && (given.collapsed ?? 0) > last)
    throw invalid(folder, labelFile, `collapsed is ${given.collapsed}, but the run ends at iteration ${last}`);
  const found = given ?? labelRun(points, rollout?.groups ?? 8, rollout?.group_size);
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

/** Returns the whole configuration of a labeled run, in the current version. `base` is a path relative to the run directory. */
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

/** Serializes the settings that affect training; evaluation and storage are not included. */
function settingsOf(config: Partial<RunConfig>): string {
  const { environments, rollout, reward, filter, advantage, policy_loss, optimizer, critic, kl } = config;
  return JSON.stringify([environments, rollout, reward, filter, advantage, policy_loss, optimizer, critic, kl]);
}

function algorithmOf({ advantage, filter }: Partial<RunConfig>): string {
  if (!advantage) return 'unknown';
  return algorithmName(advantage.estimator, filter !== undefined && filter.strategy !== 'none' && filter.keep < 1);
}

/** Extension of compressed journals. */
const packed = '.zst';
/** Far above the size of a journal after weeks of training. */
const journalLimit = 2 ** 30;

/** Returns whether a folder has a journal, compressed or not. */
export const isRunFolder = (folder: string) => journalIn(folder) !== null;

function journalIn(folder: string): string | null {
  const plain = join(folder, runFiles.journal);
  return [plain, plain + packed].find((path) => existsSync(path)) ?? null;
}

function pointsIn(folder: string, onUnreadable: () => void): Point[] {
  const journal = journalIn(folder) ?? join(folder, runFiles.journal);
  try {
    return readPoints(journal, onUnreadable);
  } catch (error) {
    throw invalid(folder, basename(journal), messageOf(error));
  }
}

/** Reads a journal's metrics by iteration. Iterations repeated after a resume replace earlier ones. `onUnreadable` is called per unreadable line. */
export function readPoints(journal: string, onUnreadable: () => void = () => {}): Point[] {
  const points = new Map<number, Record<string, number>>();
  const bytes = readFileSync(journal);
  const text = journal.endsWith(packed) ? zstdDecompressSync(bytes, { maxOutputLength: journalLimit }) : bytes;
  const lines = text.toString('utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const event = parseEvent(line);
    if (!event) {
      // The last line may be incomplete.
      if (index < lines.length - 1) onUnreadable();
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
    return requireJsonFile(join(folder, file));
  } catch (error) {
    throw invalid(folder, file, `it ${messageOf(error)}`);
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
  throw invalid(folder, file, problemIn(value, parsed.error));
}

const hints: Record<string, string> = {
  [labelFile]:
    'A label.json contains {"collapsed": iteration, "kind": "template" or "chaos"}, or {"collapsed": null, "kind": "locked", "healthy", "solved" or "declining"}. Without label.json, the collapse rule (docs/collapse-rule.md) labels the run.',
  [runFiles.config]: 'Restore the run.json that the run was trained with, or remove the run.',
};

const invalid = (folder: string, file: string, reason: string) =>
  new Failure(
    'labeled_run_invalid',
    `Can't read the labeled run ${folder}: ${file}: ${reason}.`,
    hints[file] ?? 'Copy the run again, or remove it.',
  );
