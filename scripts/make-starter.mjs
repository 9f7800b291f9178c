// Trains resources/starter/model.safetensors with the preset starter-warm-start from random weights.
// The result is bit-identical on every x86-64 machine. Prints success per evaluation; takes some minutes.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, mustRun, pinnedNode, root } from './lib/process.mjs';

/** Stop before the end of the schedule, which leaves room for reinforcement learning to improve. */
const early = '000080';

const home = mkdtempSync(join(tmpdir(), 'starpo-starter-'));
try {
  const args = ['core/host/cli.ts', 'new', 'starter-warm-start', '--home', home, ...process.argv.slice(2)];
  const folder = (await mustRun(pinnedNode(), args)).trim();
  await mustRun(join(root, 'native/build/starpo-trainer'), ['warm-start', folder], { show: true });

  for (const line of readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n')) {
    const event = line === '' ? {} : JSON.parse(line);
    if (event.type !== 'evaluation') continue;
    const success = event.metrics[`evaluation/${event.label}/success_rate`];
    console.log(`iteration ${event.iteration}  ${event.label}  ${(100 * success).toFixed(1)} %`);
  }
  for (const file of ['model.safetensors', 'generation_config.json']) {
    copyFileSync(join(folder, 'checkpoints', early, file), join(root, 'resources/starter', file));
  }
  console.log('wrote resources/starter/model.safetensors');
} catch (error) {
  fail(error);
} finally {
  rmSync(home, { recursive: true, force: true });
}
