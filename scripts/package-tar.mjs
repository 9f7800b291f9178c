// Builds a .tar.gz with trainer, command line and their Node for clusters and other machines without root, and trains two iterations with it.
// --cuda12 builds the trainer with CUDA 12, which needs driver 525 instead of 580 (downloads 1 GB on first use).
// Usage: npm run package:tar -- [--cuda12 [--mirror URL]] [--out FILE]
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../benchmarks/machine.ts';
import { buildCuda12Trainer } from './lib/cuda12.mjs';
import { fail, mustRun, pinnedNode, root, SetupError } from './lib/process.mjs';
import { makeTar, tryTar } from './lib/tar.mjs';

try {
  const { values } = parseArgs({
    options: { cuda12: { type: 'boolean' }, mirror: { type: 'string' }, out: { type: 'string' } },
  });
  await mustRun(pinnedNode(), ['node_modules/electron-vite/bin/electron-vite.js', 'build']);
  const trainer = values.cuda12 ? await buildCuda12Trainer(values) : join(root, 'native/build/starpo-trainer');
  if (!existsSync(trainer)) throw new SetupError('The trainer is not built.', 'Run `npm run setup`.');
  const { file, ...facts } = await makeTar({ trainer, output: join(root, 'dist') });
  const tried = await tryTar(file);
  const driver = facts.driver ? `, and NVIDIA driver ${facts.driver} or newer for GPUs` : '. It has no GPU engine';
  console.log(
    `${file}\n${facts.megabytes} MB. Requires glibc ${facts.glibc} or newer${driver}. Unpacked, it trained ${tried.iterations} iterations.`,
  );
  const command = `npm run package:tar${commandArguments()}`;
  if (values.out) writeResult({ command, machine: machine(), ...facts, tried }, values.out);
} catch (error) {
  fail(error);
}
