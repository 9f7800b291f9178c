import type { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { nearest } from './nearest.ts';
import type { RunConfig } from './run-config.ts';
import { type Field, findField, runConfigSchema } from './schema.ts';
import { keyPaths, type Tree } from './tree.ts';
import { configVersion, upgradeConfig } from './upgrade.ts';

const hint = 'docs/formats/run-config.md lists every key with its type and range.';

/**
 * A whole configuration of this or an earlier version, in today's form: every key is there, of its type and in its range. Rules between keys are for the trainer to say.
 * Throws `config_version_unsupported` for a newer format and `config_invalid`, naming the first key that is wrong, for anything else.
 */
export function validateConfig(value: unknown): RunConfig {
  refuseNewer(value);
  const { config } = upgradeConfig(value);
  const parsed = runConfigSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  throw describe(config, parsed.error.issues);
}

/** Throws `config_version_unsupported` for a newer format. */
export function refuseNewer(value: unknown): void {
  if (!isNewer(value)) return;
  throw new Failure(
    'config_version_unsupported',
    `This run was made by a newer StarPO Studio (configuration version ${value.version}, known is ${configVersion}).`,
    'It can be looked at here; update StarPO Studio to train it.',
  );
}

/** Whether it is of a newer format than this version knows. */
export function isNewer(value: unknown): value is { version: number } {
  const version = (value as { version?: unknown } | null)?.version;
  return typeof version === 'number' && version > configVersion;
}

/** Something that is wrong with a configuration. */
export interface Problem {
  /** Of the key, such as `rollout.groups`; empty for the configuration as a whole. */
  path: string;
  /** What is wrong, in words that go on after its name. */
  words: string;
  hint: string;
}

/** Everything that {@link validateConfig} finds wrong with a configuration of today's form, key by key; empty where nothing is. */
export function findProblems(config: unknown): Problem[] {
  const parsed = runConfigSchema.safeParse(config);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(config, issue));
}

function problemsOf(config: unknown, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys')
    return [{ path: path.join('.'), words: problem(config, issue), hint }];
  return issue.keys.map((key) => {
    const unknown = [...path, key].join('.');
    const { hint } = unknownKey(unknown, config as Tree);
    return { path: unknown, words: 'is no setting', hint };
  });
}

function describe(config: unknown, issues: readonly z.core.$ZodIssue[]): Failure {
  const issue = issues[0]!;
  const more = issues.length - 1;
  const others = more > 0 ? ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})` : '';
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path.map(String), issue.keys[0]].join('.');
    return unknownKey(path, config as Tree, others);
  }
  const path = issue.path.map(String).join('.') || 'The configuration';
  return new Failure('config_invalid', `${path} ${problem(config, issue)}${others}`, hint);
}

/** What is wrong with a value, in words that go on after its path. */
function problem(config: unknown, issue: z.core.$ZodIssue): string {
  const field = findField(issue.path, config);
  const missing = issue.path.length > 0 && at(config, issue.path) === undefined;
  if (missing) return 'is missing';
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string'
        ? "must be a text that isn't empty"
        : `must ${amount(issue)} ${issue.minimum} or more`;
    case 'too_big':
      return `must ${amount(issue)} ${issue.maximum} or less`;
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? kinds.integer : (kinds[field?.type ?? issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return `must be ${listed(issue.values.map(String))}`;
    case 'invalid_format':
      return `must have the form ${field?.pattern?.slice(1, -1) ?? issue.format}`;
    default:
      return `must be ${field ? textRange(field) : 'something else'}`;
  }
}

const kinds: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'a text',
  choice: 'a text',
  object: 'an object',
  record: 'an object',
  list: 'a list',
  array: 'a list',
};

const amount = ({ origin }: { origin: string }) => (origin === 'array' ? 'have a length of' : 'be');

const textRange = ({ min_length = 0, max_length }: Field) =>
  `a text of ${min_length} to ${max_length} characters`;

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

function at(config: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    config,
  );
}

/** `config_invalid` for a key that doesn't exist, with the nearest one that does as its hint. */
export function unknownKey(key: string, reference: Tree, others = ''): Failure {
  const proposal = nearest(
    key,
    keyPaths(reference).filter((path) => path !== key),
  );
  return new Failure(
    'config_invalid',
    `${key}: there is no such key${others}`,
    proposal ? `Did you mean ${proposal}?` : 'docs/formats/run-config.md lists every key.',
  );
}
