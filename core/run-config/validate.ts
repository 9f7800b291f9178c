import type { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { count } from '../contract/numbers.ts';
import { listWithOr } from '../contract/sentence.ts';
import { nearest } from './nearest.ts';
import type { RunConfig } from './run-config.ts';
import { type Field, findField, runConfigSchema } from './schema.ts';
import { keyPaths, type Tree } from './tree.ts';
import { refuseNewer, upgradeConfig } from './upgrade.ts';

/** Returns the hint for a problem of a setting. */
function hintFor(config: unknown): string {
  const { version, config: inner } = (config ?? {}) as { version?: unknown; config?: unknown };
  return version === undefined && typeof inner === 'object' && inner !== null
    ? 'This looks like the output of `starpo import-ragen`. Use only the object in its key `config`.'
    : 'See docs/formats/run-config.md for the type and range of every key.';
}

/**
 * Upgrades a configuration to the current version and checks that every key is present, with the right type and range. The trainer checks rules
 * between keys. Throws `config_version_unsupported` for a newer format, otherwise `config_invalid` with the first problem.
 */
export function validateConfig(value: unknown): RunConfig {
  refuseNewer(value);
  const { config } = upgradeConfig(value);
  const parsed = runConfigSchema().safeParse(config);
  if (parsed.success) return parsed.data;
  throw describe(config, parsed.error.issues);
}

/** A problem in a configuration. */
interface Problem {
  /** Path of the key, such as `rollout.groups`; empty for the whole configuration. */
  path: string;
  /** The problem, as the predicate of a sentence whose subject is the key. */
  words: string;
  hint: string;
}

/** Returns all problems of a configuration of the current version. */
export function findProblems(config: unknown): Problem[] {
  const parsed = runConfigSchema().safeParse(config);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(config, issue));
}

function problemsOf(config: unknown, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys')
    return [{ path: path.join('.'), words: problem(config, issue), hint: hintFor(config) }];
  return issue.keys.map((key) => {
    const unknown = [...path, key].join('.');
    const { hint } = unknownKey(unknown, config as Tree);
    return { path: unknown, words: 'is not a setting', hint };
  });
}

function describe(config: unknown, issues: readonly z.core.$ZodIssue[]): Failure {
  const issue = issues[0]!;
  const more = issues.flatMap((each) => problemsOf(config, each)).length - 1;
  const others = more > 0 ? ` (and ${count(more, 'more problem')})` : '';
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path.map(String), issue.keys[0]].join('.');
    return unknownKey(path, config as Tree, others);
  }
  const path = issue.path.map(String).join('.') || 'The configuration';
  return new Failure('config_invalid', `${path} ${problem(config, issue)}${others}.`, hintFor(config));
}

/** Describes an issue as a predicate that follows the path. */
function problem(config: unknown, issue: z.core.$ZodIssue): string {
  const field = findField(issue.path, config);
  const missing = issue.path.length > 0 && at(config, issue.path) === undefined;
  if (missing) return 'is missing';
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must ${amount(issue)} ${issue.minimum} or more`;
    case 'too_big':
      return `must ${amount(issue)} ${issue.maximum} or less`;
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? kinds.integer : (kinds[field?.type ?? issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return `must be ${listWithOr(issue.values.map(String))}`;
    case 'invalid_format':
      return `must be ${patternWords[field?.pattern ?? ''] ?? `text that matches ${field?.pattern ?? issue.format}`}`;
    default:
      return `must be ${field ? textRange(field) : 'a valid value'}`;
  }
}

/** The texts that match each pattern of a setting. */
const patternWords: Readonly<Record<string, string>> = {
  '^(auto|cpu|cuda(:[0-9]{1,2})?)$': 'auto, cpu, cuda or cuda:N',
  '^[a-z0-9.-]{1,64}$': '1 to 64 lowercase letters, digits, dots or hyphens',
  '^[a-z0-9-]{1,32}$': '1 to 32 lowercase letters, digits or hyphens',
  '^([a-z0-9-]{1,64})?$': 'a run id (up to 64 lowercase letters, digits or hyphens) or empty',
  '^([0-9a-f]{64})?$': '64 hexadecimal digits in lowercase or empty',
  '^\\S+$': 'text without spaces',
  '^/[^\\n]*$': 'an absolute path',
  '^(/[^\\n]*)?$': 'an absolute path or empty',
};

const kinds: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  choice: 'text',
  object: 'an object',
  record: 'an object',
  list: 'a list',
  array: 'a list',
};

const amount = ({ origin }: { origin: string }) => (origin === 'array' ? 'have a length of' : 'be');

const textRange = ({ min_length = 0, max_length }: Field) => `text of ${min_length} to ${max_length} characters`;

function at(config: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], config);
}

/** Returns `config_invalid` for an unknown key, with the most similar key as the hint. */
export function unknownKey(key: string, reference: Tree, others = ''): Failure {
  const proposal = nearest(
    key,
    keyPaths(reference).filter((path) => path !== key),
  );
  return new Failure(
    'config_invalid',
    `${key} is not a setting${others}.`,
    proposal ? `Did you mean ${proposal}?` : 'See docs/formats/run-config.md for all settings.',
  );
}
