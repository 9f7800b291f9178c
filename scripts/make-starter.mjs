// Trains model.safetensors of a folder in resources with its warm-start preset, from random weights: `npm run make-starter -- starter-shop`.
// The result is bit-identical on every x86-64 machine. Prints success per evaluation; takes up to half an hour.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, mustRun, pinnedNode, root } from './lib/process.mjs';

/** Presets and checkpoints. The starter stops before the end of the schedule, which leaves room for reinforcement learning to improve. */
const starters = new Map([
  ['starter', { preset: 'starter-warm-start', checkpoint: '000080' }],
  ['starter-shop', { preset: 'starter-webshop-warm-start', checkpoint: '000020' }],
]);

const [name = 'starter', ...options] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'starpo-starter-'));
try {
  const starter = starters.get(name);
  if (!starter) throw new Error(`Unknown model "${name}". Use one of: ${[...starters.keys()].join(', ')}.`);
  const args = ['core/host/cli.ts', 'new', starter.preset, '--home', home, ...options];
  const folder = (await mustRun(pinnedNode(), args)).trim();
  await mustRun(join(root, 'native/build/starpo-trainer'), ['warm-start', folder], { show: true });

  for (const line of readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n')) {
    const event = line === '' ? {} : JSON.parse(line);
    if (event.type !== 'evaluation') continue;
    const success = event.metrics[`evaluation/${event.label}/success_rate`];
    console.log(`iteration ${event.iteration}  ${event.label}  ${(100 * success).toFixed(1)} %`);
  }
  for (const file of ['model.safetensors', 'generation_config.json'])
    copyFileSync(join(folder, 'checkpoints', starter.checkpoint, file), join(root, 'resources', name, file));
  console.log(`wrote resources/${name}/model.safetensors`);
} catch (error) {
  fail(error);
} finally {
  rmSync(home, { recursive: true, force: true });
}
