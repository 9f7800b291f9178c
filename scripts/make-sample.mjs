// Makes resources/sample.starpo.zip anew: the sample run, which the preset starter-frozen-lake trains with evaluations of 64 levels; of training, the episodes of every hundredth
// iteration stay. The trainer being exact to the bit, every x86-64 machine gets the same episodes. Takes some minutes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fail, pinnedNode, root, run } from './lib/process.mjs';

const settings = ['evaluation.levels=64', 'rollout_files.keep_every=100', 'rollout_files.keep_last=1'];
const bundle = join(root, 'resources/sample.starpo.zip');

const home = mkdtempSync(join(tmpdir(), 'starpo-sample-'));

/** Its last line. @param {string[]} args */
async function starpo(...args) {
  const done = await run(pinnedNode(), ['core/host/cli.ts', ...args, '--home', home]);
  if (done.status !== 0) throw new Error(done.output);
  return done.output.trim().split('\n').at(-1) ?? '';
}

try {
  const folder = await starpo('new', 'starter-frozen-lake', ...settings.flatMap((each) => ['--set', each]));
  const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');
  const trained = await run(trainer, ['train', folder, ...process.argv.slice(2)], { show: true });
  if (trained.status !== 0) throw new Error(trained.output);
  // Where the resources lay when it was made is nobody's concern.
  const config = join(folder, 'run.json');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(join(root, 'resources/'), ''));
  // Of checkpoints the tokenizer stays, by which the replay names tokens.
  const checkpoints = join(folder, 'checkpoints');
  for (const file of readdirSync(checkpoints, { recursive: true, encoding: 'utf8' }))
    if (/\./.test(file) && basename(file) !== 'tokenizer.json') rmSync(join(checkpoints, file));
  const id = basename(folder);
  await starpo('rename', id, 'Sample run: FrozenLake');
  rmSync(bundle, { force: true });
  await starpo('bundle', 'export', id, bundle, '--checkpoints', 'newest', '--episodes', 'all');
  console.log(`${bundle} is new: ${(statSync(bundle).size / 1e6).toFixed(2)} MB`);
} catch (error) {
  fail(error);
} finally {
  rmSync(home, { recursive: true, force: true });
}
