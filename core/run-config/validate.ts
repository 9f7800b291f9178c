import type { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { nearest } from './nearest.ts';
import { configVersion, type RunConfig, runConfig } from './schema.ts';
import { keyPaths, type Tree } from './tree.ts';

/**
 * Checks a whole configuration. Throws `config_version_unsupported` for a newer format and `config_invalid`, naming the first
 * key that is wrong, for anything else. `reference` supplies the keys that a hint may propose.
 */
export function validateConfig(value: unknown, reference?: Tree): RunConfig {
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > configVersion) {
    throw new Failure(
      'config_version_unsupported',
      `This run was made by a newer StarPO Studio (configuration version ${version}, known is ${configVersion}).`,
      'It can be looked at here; update StarPO Studio to train it.',
    );
  }
  const parsed = runConfig.safeParse(value);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0] as z.core.$ZodIssue;
  throw describe(first, parsed.error.issues.length - 1, reference);
}

function describe(issue: z.core.$ZodIssue, more: number, reference: Tree | undefined): Failure {
  const path = issue.path.map(String).join('.');
  const others = more > 0 ? ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})` : '';
  if (issue.code === 'unrecognized_keys') {
    const key = [...issue.path.map(String), issue.keys[0]].join('.');
    return unknownKey(key, reference, others);
  }
  const message = `${path || 'The configuration'}: ${issue.message}${others}`;
  return new Failure(
    'config_invalid',
    message,
    'docs/formats/run-config.md lists every key with its type and range.',
  );
}

/** `config_invalid` for a key that doesn't exist, with the nearest one that does as its hint. */
export function unknownKey(key: string, reference: Tree | undefined, others = ''): Failure {
  const proposal = reference ? nearest(key, keyPaths(reference)) : null;
  const hint = proposal ? `Did you mean ${proposal}?` : 'docs/formats/run-config.md lists every key.';
  return new Failure('config_invalid', `${key}: there is no such key${others}`, hint);
}
