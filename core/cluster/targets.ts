import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { targetName } from '../contract/cluster-job.ts';
import { type SlurmTarget, slurmTarget, withoutDefaults } from '../contract/cluster-targets.ts';
import { Failure, messageOf } from '../contract/failure.ts';
import { problemIn } from '../contract/issue-words.ts';
import { count } from '../contract/numbers.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

const content = z.strictObject({ version: z.literal(1), targets: z.record(targetName, slurmTarget) });

/** targets.json of a data folder (docs/formats/targets.md), which the app and the user edit. */
export class Targets {
  readonly path: string;

  constructor(home: string) {
    this.path = join(home, 'targets.json');
  }

  /** Returns the targets by name; none without the file. Throws `targets_invalid`. */
  read(): Record<string, SlurmTarget> {
    return this.parse().targets;
  }

  /** Adds a target, or replaces the one that was named `was`. Throws `targets_invalid` or `target_exists`. */
  save(name: string, settings: SlurmTarget, was?: string): void {
    const { given } = this.parse();
    if (name !== was && Object.hasOwn(given, name))
      throw new Failure('target_exists', `The cluster ${name} already exists.`, 'Use another name.');
    const entries = Object.entries(given);
    const index = entries.findIndex(([each]) => each === was);
    entries.splice(index < 0 ? entries.length : index, 1, [name, withoutDefaults(settings)]);
    this.write(Object.fromEntries(entries));
  }

  /** Removes a target. Throws `targets_invalid` or `target_unknown`. */
  remove(name: string): void {
    this.get(name);
    const { [name]: _, ...others } = this.parse().given;
    this.write(others);
  }

  private write(targets: Record<string, unknown>): void {
    writeWhole(this.path, { version: 1, targets });
  }

  /** Returns the targets with their defaults, and as given in the file. */
  private parse(): { targets: Record<string, SlurmTarget>; given: Record<string, unknown> } {
    if (!existsSync(this.path)) return { targets: {}, given: {} };
    let value: unknown;
    try {
      value = requireJsonFile(this.path);
    } catch (error) {
      throw this.invalid(messageOf(error));
    }
    const parsed = content.safeParse(value);
    if (parsed.success)
      return { targets: parsed.data.targets, given: (value as { targets: Record<string, unknown> }).targets };
    throw this.invalid(`is invalid: ${problemIn(value, parsed.error)}`);
  }

  /** Throws `targets_invalid` or `target_unknown`. */
  get(name: string): SlurmTarget {
    const targets = this.read();
    const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
    if (target) return target;
    const names = Object.keys(targets).join(', ');
    throw new Failure(
      'target_unknown',
      `Target ${name} was not found in ${this.path}.`,
      names
        ? `Use one of: ${names}.`
        : 'Add a cluster on the Settings page or in this file; see docs/formats/targets.md.',
    );
  }

  private invalid(problem: string): Failure {
    return new Failure('targets_invalid', `${this.path} ${problem}.`, 'Correct the file; see docs/formats/targets.md.');
  }
}

/** Returns the main settings of a target in words. */
export function describeTarget({ type, partition, time, gpus, cpus, memory }: SlurmTarget): string {
  const parts = [count(gpus, 'GPU'), count(cpus, 'CPU'), memory, `at most ${time}`];
  return `${type}${partition ? `, partition ${partition}` : ''}: ${parts.filter(Boolean).join(', ')}`;
}
