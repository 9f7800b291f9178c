import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/lib/process.mjs';

/** Half-done runs of release 1.0.0-beta.1, one per environment: 2 of 3 iterations, an evaluation and a checkpoint at iteration 2. */
export const keptRuns = join(root, 'tests/fixtures/1.0.0-beta.1');
export const keptEnvironments = ['bandit', 'frozen-lake', 'sokoban'];

/** Copies one with its checkpoint's tokenizer, which all of them share. */
export function copyKeptRun(environment: string, folder: string): void {
  cpSync(join(keptRuns, environment), folder, { recursive: true });
  copyFileSync(join(keptRuns, 'tokenizer.json'), join(folder, 'checkpoints/000002/tokenizer.json'));
}
