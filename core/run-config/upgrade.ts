import { Failure } from '../contract/failure.ts';
import { isNestedTooDeeply } from '../contract/nesting.ts';
import options from './options.json' with { type: 'json' };
import type { Tree } from './tree.ts';

/** Upgrades older run.json files in memory. The trainer applies the same table (options.json), and a test compares both. */

type Change = { path: string } & ({ set: unknown } | { rename: string });
type Condition = { path: string } & ({ is: unknown } | { above: number } | { longer_than: number });
interface Upgrade {
  to: number;
  changes: readonly Change[];
  /** A note is added if all of its conditions hold. */
  notes: readonly { when: readonly Condition[]; text: string }[];
}

const upgrades = options.upgrades as unknown as readonly Upgrade[];

/** The current version: that of the last upgrade. */
export const configVersion = upgrades.at(-1)?.to ?? 1;

/** Throws `config_version_unsupported` for a newer format. */
export function refuseNewer(value: unknown): void {
  if (!isNewer(value)) return;
  throw new Failure(
    'config_version_unsupported',
    `The configuration has version ${value.version}, but this app supports up to ${configVersion}.`,
    'Update StarPO Studio to use the configuration. Runs from before release 1.0 can be viewed, but not trained.',
  );
}

/** Returns whether the format is newer than this version supports. */
export function isNewer(value: unknown): value is { version: number } {
  const version = (value as { version?: unknown } | null)?.version;
  return typeof version === 'number' && version > configVersion;
}

interface Upgraded {
  config: unknown;
  /** Differences in behavior since the file was written. */
  notes: string[];
}

/** Returns a copy of a run.json upgraded to the current version. Invalid values and newer versions are left unchanged. Throws `config_invalid` if nested too deeply. */
export function upgradeConfig(value: unknown, table: readonly Upgrade[] = upgrades): Upgraded {
  if (isNestedTooDeeply(value))
    throw new Failure(
      'config_invalid',
      'The configuration is nested too deeply.',
      'See docs/formats/run-config.md for the format of run.json.',
    );
  const config = structuredClone(value);
  const notes: string[] = [];
  if (!isObject(config)) return { config, notes };
  for (const upgrade of table) {
    if (config.version !== upgrade.to - 1) continue;
    for (const { when, text } of upgrade.notes)
      if (when.every((condition) => holds(condition, config))) notes.push(text);
    for (const change of upgrade.changes) apply(change, config);
    config.version = upgrade.to;
  }
  return { config, notes };
}

function apply(change: Change, config: Tree): void {
  for (const [holder, key] of holders(config, change.path)) {
    if ('set' in change) {
      if (!Object.hasOwn(holder, key)) holder[key] = structuredClone(change.set);
    } else if (Object.hasOwn(holder, key)) {
      holder[change.rename] = holder[key];
      delete holder[key];
    }
  }
}

function holds(condition: Condition, config: Tree): boolean {
  return holders(config, condition.path).some(([holder, key]) => {
    const value = holder[key];
    if ('is' in condition) return value === condition.is;
    if ('above' in condition) return typeof value === 'number' && value > condition.above;
    return Array.isArray(value) && value.length > condition.longer_than;
  });
}

/** Returns every object that contains the last key of a path; with `environments[].noise`, one per element. */
function holders(object: unknown, path: string): [Tree, string][] {
  if (!isObject(object)) return [];
  const dot = path.indexOf('.');
  if (dot < 0) return [[object, path]];
  const name = path.slice(0, dot);
  const rest = path.slice(dot + 1);
  if (!name.endsWith('[]')) return holders(object[name], rest);
  const list = object[name.slice(0, -2)];
  return Array.isArray(list) ? list.flatMap((element) => holders(element, rest)) : [];
}

const isObject = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
