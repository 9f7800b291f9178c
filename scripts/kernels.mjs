// Prints registers, spills, stack and static shared memory of the CUDA kernels, from ptxas's build reports.
// Usage: npm run kernels [-- --cap]
//   --cap: adds a register cap for each new kernel to native/cuda-kernels.json and removes deleted kernels.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, root, SetupError } from './lib/process.mjs';
import { capOf, findReports, readReports } from './lib/ptxas-report.mjs';

const file = join(root, 'native/cuda-kernels.json');

/** The hardware allocates registers per thread in multiples of 8, at most 255. @param {number} registers */
const capAbove = (registers) => Math.min(Math.ceil(registers / 8) * 8, 255);

try {
  const { values } = parseArgs({ options: { cap: { type: 'boolean', default: false } } });
  const reports = findReports();
  if (!reports)
    throw new SetupError(
      'There are no kernel reports: the kernels were not built with nvcc.',
      'Run `npm run setup` on a machine with nvcc.',
    );
  const uses = readReports(reports);
  for (const { kernel, target, registers, spilledBytes, stackBytes, sharedBytes } of uses) {
    const columns = [
      `${target}`.padEnd(7),
      `${registers} registers`.padStart(13),
      `${spilledBytes} spilled`.padStart(12),
      `${stackBytes} stack`.padStart(11),
      `${sharedBytes} shared`.padStart(13),
    ];
    console.log(`${columns.join('')}  ${kernel}`);
  }
  if (values.cap) {
    const list = JSON.parse(readFileSync(file, 'utf8'));
    const template = (/** @type {string} */ name) => name.replace(/<.*/s, '');
    const built = new Set(uses.flatMap(({ kernel }) => [kernel, template(kernel)]));
    /** @type {Record<string, number>} */
    const caps = Object.fromEntries(Object.entries(list.registers).filter(([name]) => built.has(name)));
    const uncapped = uses.filter(({ kernel }) => capOf(caps, kernel) === undefined);
    for (const { kernel, registers } of uncapped) caps[kernel] = Math.max(caps[kernel] ?? 0, capAbove(registers));
    const sorted = Object.entries(caps).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(file, `${JSON.stringify({ ...list, registers: Object.fromEntries(sorted) }, null, 2)}\n`);
  }
} catch (error) {
  fail(error);
}
