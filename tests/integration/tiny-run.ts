import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newRun, root, trainer } from './trainer-process.ts';

/** Writes the folder of a one-layer policy. It has no weights: a run draws them from its seed. */
export function makeTinyModel(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const starter = join(root, 'resources/starter');
  const config = JSON.parse(readFileSync(join(starter, 'config.json'), 'utf8'));
  const tiny = { ...config, hidden_size: 32, head_dim: 16, intermediate_size: 48, num_hidden_layers: 1 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(tiny));
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) copyFileSync(join(starter, file), join(folder, file));
  return folder;
}

/**
 * Creates a run that takes a fraction of a second: four iterations with an evaluation and a checkpoint every two. Its responses are never
 * valid, but the entropy bonus changes its weights.
 */
export function newTinyRun(home: string, settings: Record<string, string | number> = {}): Promise<string> {
  return newRun(home, 'starter-frozen-lake', { ...tinySettings(home), ...settings });
}

/** Returns the settings of {@link newTinyRun}, and writes the model that they name. */
export const tinySettings = (home: string) => ({
  'start.model': makeTinyModel(join(home, 'tiny-model')),
  'start.weights': 'random',
  iterations: 4,
  threads: 1,
  'rollout.groups': 4,
  'rollout.group_size': 4,
  'rollout.max_response_tokens': 24,
  'policy_loss.mini_batch': 4,
  'evaluation.every': 2,
  'evaluation.levels': 16,
  'checkpoint.every': 2,
});

/** Creates another run of the same configuration. */
export function sameRun(folder: string, name: string): string {
  const other = join(folder, '..', name);
  mkdirSync(other);
  cpSync(join(folder, 'run.json'), join(other, 'run.json'));
  return other;
}

/**
 * Trains the one-layer policy on demonstrations, in half a second. Its responses are valid and its actions random, so rewards differ. Returns
 * its folder.
 */
export async function trainTinyPolicy(home: string): Promise<string> {
  const folder = await newRun(home, 'starter-warm-start', {
    ...{ 'start.model': makeTinyModel(join(home, 'tiny-model')), iterations: 1, threads: 1 },
    ...{ 'environments.1.share': 0, 'evaluation.levels': 1, 'optimizer.learning_rate': 0.01, 'optimizer.warmup': 5 },
    ...{ 'warm_start.steps_per_iteration': 150, 'warm_start.plain': 0.5, 'warm_start.careful': 0 },
  });
  await promisify(execFile)(trainer, ['train', folder]);
  return join(folder, 'checkpoints/000001');
}
