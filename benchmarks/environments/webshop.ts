/**
 * Measures WebShop without a policy, in processor time: searches, memory, the index of a folder, and episodes of the scripted customer with
 * RAGEN's observations. Usage: npm run benchmark:webshop -- [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const program = join(import.meta.dirname, '../../native/build/starpo-bench');
const bench = (...args: string[]) => execFileSync(program, ['webshop', ...args], { encoding: 'utf8' });

/** Returns a measurement with three significant digits. */
const measure = (catalogue: string, queries: number, episodes: number): Record<string, unknown> =>
  JSON.parse(bench(catalogue, '--queries', String(queries), '--episodes', String(episodes)), (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value,
  );

const folder = mkdtempSync(join(tmpdir(), 'starpo-catalogue-'));
try {
  bench(folder, '--write', '80000');
  const result = {
    products_1000: measure('synthetic:1000:1', 2000, 1000),
    folder_80000_first_use: { ...measure(folder, 2000, 0), catalogue: 'folder' },
    folder_80000_later: { ...measure(folder, 2000, 500), catalogue: 'folder' },
    products_1000000: measure('synthetic:1000000:1', 2000, 1000),
  };
  const load = Math.round(loadavg()[0]! * 10) / 10;
  writeResult({ command: `npm run benchmark:webshop${commandArguments()}`, ...machine(), load, ...result }, values.out);
} finally {
  rmSync(folder, { recursive: true });
}
