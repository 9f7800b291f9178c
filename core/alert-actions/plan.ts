import { statfs } from 'node:fs/promises';
import type { Advice, KnownAction } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { bytes } from '../contract/numbers.ts';
import { titleOf, valueTitle } from '../presets/form.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { measureRun } from '../run-directory/measure.ts';
import { newRunId } from '../run-directory/names.ts';

/** A planned response to an alarm. `message` is recorded when it starts. */
export type Plan = Pick<KnownAction, 'kind' | 'checkpoint' | 'fork' | 'changes' | 'message'>;

type RollBack = Extract<Advice['action'], { kind: 'rollback' }>;

export const commandPlan = (kind: 'pause' | 'checkpoint' | 'stop', message = ''): Plan => ({
  kind,
  checkpoint: null,
  fork: null,
  changes: [],
  message,
});

/**
 * Plans a roll-back: the newest healthy checkpoint and the id of the fork. Throws `checkpoint_missing` if no such checkpoint is left, or
 * `disk_space_low` if the disk has too little space for the fork's checkpoints.
 */
export async function rollBackPlan(
  folder: string,
  { notAfter, changes }: RollBack,
  config: Pick<RunConfig, 'preset' | 'checkpoint'>,
): Promise<Plan> {
  const checkpoint = checkpointsOf(folder).findLast((iteration) => iteration <= notAfter);
  if (checkpoint === undefined)
    throw new Failure(
      'checkpoint_missing',
      `No healthy checkpoint exists at or before iteration ${notAfter}.`,
      'Pause or stop the run, and start a new run with a lower learning rate.',
    );
  await requireSpace(folder, config.checkpoint.keep);
  const message = `Rolling back to ${describeRollBack({ checkpoint, changes })}.`;
  return { kind: 'rollback', checkpoint, fork: newRunId(config.preset), changes, message };
}

/** Requires space for a fork's checkpoints with optimizer state, its first checkpoint, and one being written, each as large as the parent's. */
async function requireSpace(folder: string, keep: number): Promise<void> {
  const [{ largestCheckpoint }, disk] = await Promise.all([measureRun(folder), statfs(folder)]);
  const needed = (keep + 2) * largestCheckpoint;
  const free = disk.bavail * disk.bsize;
  if (needed <= free) return;
  throw new Failure(
    'disk_space_low',
    `A fork needs about ${bytes(needed)} for its checkpoints, but only ${bytes(free)} of disk space is left.`,
    'Free disk space, for example by deleting runs and emptying the trash, then try again.',
  );
}

/** Returns a string such as `iteration 40, with “Learning rate” at 0.00017`. */
export function describeRollBack({ checkpoint, changes }: Pick<Plan, 'checkpoint' | 'changes'>): string {
  const changed = changes.map(({ path, value }) => `“${titleOf(path)}” at ${valueTitle(path, value)}`).join(', ');
  return `iteration ${checkpoint}${changed === '' ? '' : `, with ${changed}`}`;
}
