// Trains the sample run and writes resources/sample.starpo.zip: preset starter-frozen-lake-starpo-s with evaluations on 64 levels and
// training episodes of every hundredth iteration and the last one. Results are bit-identical on every x86-64 machine. Takes some minutes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fail, mustRun, pinnedNode, root } from './lib/process.mjs';

const settings = ['evaluation.levels=64', 'rollout_files.keep_every=100', 'rollout_files.keep_last=1'];
const bundle = join(root, 'resources/sample.starpo.zip');

const home = mkdtempSync(join(tmpdir(), 'starpo-sample-'));

/** Runs a command and returns the last line of its output. @param {string[]} args */
async function starpo(...args) {
  const output = await mustRun(pinnedNode(), ['core/host/cli.ts', ...args, '--home', home]);
  return output.trim().split('\n').at(-1) ?? '';
}

try {
  const folder = await starpo('new', 'starter-frozen-lake-starpo-s', ...settings.flatMap((each) => ['--set', each]));
  const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');
  await mustRun(trainer, ['train', folder, ...process.argv.slice(2)], { show: true });
  // Remove this machine's paths.
  const config = join(folder, 'run.json');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(join(root, 'resources/'), ''));
  // Keep only the tokenizer of each checkpoint, which the replay needs to show tokens.
  const checkpoints = join(folder, 'checkpoints');
  for (const file of readdirSync(checkpoints, { recursive: true, encoding: 'utf8' }))
    if (/\./.test(file) && basename(file) !== 'tokenizer.json') rmSync(join(checkpoints, file));
  const id = basename(folder);
  await starpo('rename', id, 'Sample run: FrozenLake');
  rmSync(bundle, { force: true });
  await starpo('bundle', 'export', id, bundle, '--checkpoints', 'newest', '--episodes', 'all');
  console.log(`wrote ${bundle}: ${(statSync(bundle).size / 1e6).toFixed(2)} MB`);
} catch (error) {
  fail(error);
} finally {
  rmSync(home, { recursive: true, force: true });
}
