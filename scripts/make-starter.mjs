// Makes resources/starter/model.safetensors anew: the warm start that the preset starter-warm-start describes, from random weights of its seed. The
// trainer being exact to the bit, every x86-64 machine gets the same file. Prints success as it goes; takes some minutes.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, pinnedNode, root, run } from './lib/process.mjs';

/** The policy is stopped early: what the rest of the schedule would teach it is left to reinforcement. */
const early = '000080';

const home = mkdtempSync(join(tmpdir(), 'starpo-starter-'));
try {
  const made = await run(pinnedNode(), [
    'core/host/cli.ts',
    'new',
    'starter-warm-start',
    '--home',
    home,
    ...process.argv.slice(2),
  ]);
  if (made.status !== 0) throw new Error(made.output);
  const folder = made.output.trim();
  const trained = await run(join(root, 'native/build/starpo-trainer'), ['warm-start', folder], {
    show: true,
  });
  if (trained.status !== 0) throw new Error(trained.output);

  for (const line of readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n')) {
    const event = line === '' ? {} : JSON.parse(line);
    if (event.type !== 'evaluation') continue;
    const success = event.metrics[`evaluation/${event.label}/success_rate`];
    console.log(`iteration ${event.iteration}  ${event.label}  ${(100 * success).toFixed(1)} %`);
  }
  for (const file of ['model.safetensors', 'generation_config.json']) {
    copyFileSync(join(folder, 'checkpoints', early, file), join(root, 'resources/starter', file));
  }
  console.log('resources/starter/model.safetensors is new');
} catch (error) {
  fail(error);
} finally {
  rmSync(home, { recursive: true, force: true });
}
