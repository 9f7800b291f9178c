import type { SettingChange } from './echo-trap.ts';
import { sampleRunId } from './sample.ts';

/** Length limit of a run's display name, in characters. */
export const maxNameLength = 80;

/**
 * Returns the short id of a run: the random suffix of its id (`a16c`), with what was appended to it by hand (`a16c-copy`), or the seed of a sweep's
 * run (`s3`). An id without such a part, for example one chosen by hand, is returned unchanged.
 */
export const shortId = (id: string): string => /^.*-((?:[0-9a-f]{4}){1,2}(?:-.+)?|s\d+)$/.exec(id)?.[1] ?? id;

/** Splits a run's name into the name without its short id, and the short id, which distinguishes runs of one name. The latter is empty for the sample run, and if the name is the id. */
export function nameParts({ id, name }: { id: string; name: string }): { stem: string; hash: string } {
  const hash = id === sampleRunId || name === id ? '' : shortId(id);
  return { stem: hash && name.endsWith(` ${hash}`) ? name.slice(0, -hash.length - 1) : name, hash };
}

/** Returns a name that no other run has. */
export function distinctName(run: { id: string; name: string }): string {
  const { stem, hash } = nameParts(run);
  return hash ? `${stem} ${hash}` : stem;
}

const derivedEnd = /, (fork at|extended to|rolled back to) \d+(, .*)?$/;

/**
 * Returns the name of a run that is derived from another: `FrozenLake b7e8, fork at 40`. Replaces the suffix of a parent that
 * is derived itself, and shortens the parent's name if necessary. Appends a number if the name is in `taken`.
 */
export function derivedName(parent: string, end: string, taken: readonly string[]): string {
  const base = parent.replace(derivedEnd, '');
  for (let count = 1; ; count++) {
    const suffix = `, ${end}${count === 1 ? '' : ` (${count})`}`;
    const stem =
      base.length + suffix.length <= maxNameLength ? base : `${base.slice(0, maxNameLength - suffix.length - 1)}…`;
    const name = `${stem}${suffix}`.slice(0, maxNameLength);
    if (!taken.includes(name)) return name;
  }
}

const shortTitles: Record<string, string> = {
  'optimizer.learning_rate': 'LR',
  'policy_loss.entropy_coefficient': 'entropy bonus',
};

/** Describes a roll-back in a run's name: `rolled back to 8, LR 1.7e-4`. */
export const rolledBackTo = (checkpoint: number, changes: readonly SettingChange[]): string =>
  [
    `rolled back to ${checkpoint}`,
    ...changes.map(
      ({ path, value }) => `${shortTitles[path] ?? path.split('.').at(-1)!.replaceAll('_', ' ')} ${shortValue(value)}`,
    ),
  ].join(', ');

/** Formats a value with two digits: `1.7e-4`, `0.05`, `on`. */
export function shortValue(value: SettingChange['value']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string') return value;
  const rounded = Number(value.toPrecision(2));
  return rounded !== 0 && Math.abs(rounded) < 0.001 ? rounded.toExponential() : String(rounded);
}
