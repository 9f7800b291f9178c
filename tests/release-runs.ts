import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/lib/process.mjs';

/** Interrupted runs of release 1.0.0-beta.1, one per environment: 2 of 3 iterations, an evaluation and a checkpoint at iteration 2. */
export const releaseRuns = join(root, 'tests/fixtures/1.0.0-beta.1');
export const releaseEnvironments = ['bandit', 'frozen-lake', 'sokoban'];

/** Copies a run and adds the tokenizer of its checkpoint, which is the starter policy's. */
export function copyReleaseRun(environment: string, folder: string): void {
  cpSync(join(releaseRuns, environment), folder, { recursive: true });
  copyFileSync(join(root, 'resources/starter/tokenizer.json'), join(folder, 'checkpoints/000002/tokenizer.json'));
}
