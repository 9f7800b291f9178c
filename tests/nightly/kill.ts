/**
 * Kills the trainer and core at random moments and checks that no data is lost: a killed run must equal an undisturbed one to the bit,
 * and the history must equal one rebuilt from the run directories.
 * Usage: npm run nightly:kill -- [--trainer 200] [--core 50] [--seed N] [--out FILE]
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import { commandArguments, machine } from '../../benchmarks/machine.ts';
import { killCore } from './kill-core.ts';
import { killTrainer } from './kill-trainer.ts';

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${text} is not a whole number.`);
  return Number(text);
}

const { values } = parseArgs({
  options: {
    trainer: { type: 'string', default: '200' },
    core: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    out: { type: 'string' },
  },
});
const seed = wholeNumber(values.seed);
const trainerKills = wholeNumber(values.trainer);
const coreKills = wholeNumber(values.core);
console.log(`--seed ${seed}`);
const random = randomNumbers(seed);
const result = {
  command: `npm run nightly:kill${commandArguments()}`,
  machine: machine(),
  seed,
  trainer: await killTrainer(trainerKills, random),
  core: await killCore(coreKills, random),
};
const text = `${JSON.stringify(result, null, 2)}\n`;
if (values.out) writeFileSync(resolve(values.out), text);
console.log(text);
