/**
 * Measures a first start: clones the commit, runs `npm start` without display and ccache, and times the page's address and the
 * trainer's build. System packages and npm's cache are those of the machine. Usage: npm run benchmark:first-start -- [--out FILE]
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from './machine.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'starpo-first-start-'));
const clone = join(folder, 'studio');
execFileSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' });
mkdirSync(join(folder, 'home'));

const begin = performance.now();
const elapsed = () => Number(((performance.now() - begin) / 1000).toFixed(1));
const { DISPLAY, WAYLAND_DISPLAY, STARPO_BUILT, ...environment } = process.env;
const child = spawn('npm', ['start'], {
  cwd: clone,
  detached: true,
  env: { ...environment, CCACHE_DISABLE: '1', STARPO_HOME: join(folder, 'home') },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const closed = new Promise((resolve) => child.on('close', resolve));
const seconds: { page?: number; trainer?: number } = {};
try {
  for await (const line of createInterface(child.stdout)) {
    console.error(`${elapsed()} s  ${line}`);
    if (/https?:\/\//.test(line)) seconds.page ??= elapsed();
    if (/trainer \(native\)\s+(already )?done/.test(line)) seconds.trainer = elapsed();
    if (seconds.page !== undefined && seconds.trainer !== undefined) break;
  }
  // Kill the server's whole process group.
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
  await closed;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (seconds.page === undefined || seconds.trainer === undefined)
  throw new Error('npm start exited before it served the page and built the trainer');
writeResult({ command: `npm run benchmark:first-start${commandArguments()}`, machine: machine(), seconds }, values.out);
