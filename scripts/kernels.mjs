// What the CUDA kernels need, as ptxas said when they were built: registers, spills, stack, static shared memory.
// Usage: npm run kernels [-- --cap]
//   --cap: gives every kernel that native/cuda-kernels.json doesn't name a cap just above what it needs now, and drops those that are gone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, root, SetupError } from './lib/process.mjs';
import { capOf, findReports, readReports } from './lib/ptxas-report.mjs';

const file = join(root, 'native/cuda-kernels.json');

try {
  const { values } = parseArgs({ options: { cap: { type: 'boolean', default: false } } });
  const reports = findReports();
  if (!reports)
    throw new SetupError('The kernels were not built by nvcc.', 'Run npm run setup where there is an nvcc.');
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
    const names = new Set(uses.map(({ kernel }) => kernel.replace(/<.*/s, '')));
    const kept = Object.entries(list.registers).filter(([name]) => names.has(name.replace(/<.*/s, '')));
    /** @type {Record<string, number>} */
    const caps = Object.fromEntries(kept);
    for (const name of names) {
      const instances = uses.filter(({ kernel }) => kernel.replace(/<.*/s, '') === name);
      if (instances.every(({ kernel }) => capOf(caps, kernel) !== undefined)) continue;
      caps[name] = Math.ceil(Math.max(...instances.map(({ registers }) => registers)) / 8) * 8;
    }
    const sorted = Object.entries(caps).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(file, `${JSON.stringify({ ...list, registers: Object.fromEntries(sorted) }, null, 2)}\n`);
  }
} catch (error) {
  fail(error);
}
