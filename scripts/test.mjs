import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks.mjs';
import { describe, fail, pinnedNode, root, run } from './lib/process.mjs';
import { setup, setupNativeTests } from './lib/setup-steps.mjs';
import { doctestResults, sum, vitestResults } from './lib/test-results.mjs';

/** @typedef {import('./lib/test-results.mjs').Results} Results */

/**
 * Stages that run in parallel. vitest often waits for other processes; the native stage never waits, so it runs at a lower priority.
 * The unit tests print as they run, the others at the end.
 * @type {{ name: string, run: () => Promise<Results & { output?: string }> }[]}
 */
const stages = [
  { name: 'unit', run: () => runVitest(['node', 'mocking', 'renderer'], true) },
  { name: 'end to end', run: () => runVitest(['e2e'], false) },
  { name: 'native', run: runNativeTests },
  { name: 'check', run: runChecks },
];

/** Builds the native tests while other tests run, then runs them in two halves: the CUDA engine's and all others. */
async function runNativeTests() {
  // Not lower, or other programs on the machine would starve the tests.
  const niceness = 4;
  try {
    await setupNativeTests({ niceness });
  } catch (error) {
    return { passed: 0, failed: 1, failures: [describe(error)] };
  }
  const program = join(root, 'native/build/starpo-tests');
  const halves = ['-sf=*/cuda_*', '-sfe=*/cuda_*'].map((files) => run(program, [files], { niceness }));
  const ended = await Promise.all(halves);
  const results = sum(ended.map(({ output, status }) => doctestResults(output, status)));
  return { ...results, output: ended.map(({ output }) => output).join('\n') };
}

/** @param {string[]} projects @param {boolean} show print output immediately @returns {Promise<Results & { output: string }>} */
async function runVitest(projects, show) {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-tests-'));
  const report = join(folder, 'report.json');
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status, output } = await run(
    pinnedNode(),
    ['node_modules/vitest/vitest.mjs', 'run', ...projects.map((name) => `--project=${name}`), ...args],
    { show, env: { ...process.env, STARPO_BUILT: join(root, 'out/main') } },
  );
  const results = vitestResults(existsSync(report) ? readFileSync(report, 'utf8') : undefined, status);
  rmSync(folder, { recursive: true });
  return { ...results, output: show ? '' : output };
}

/**
 * Moves temporary files to /dev/shm: tests create and delete tens of thousands, which takes a tenth of their time on a disk.
 * Does nothing if TMPDIR is set, memory is short or /dev/shm is mounted noexec.
 */
function keepFilesInMemory() {
  const memory = '/dev/shm';
  const tmpfs = 0x01021994;
  const room = 4 * 2 ** 30;
  if (process.env.TMPDIR || !existsSync(memory)) return;
  const { type, bavail, bsize } = statfsSync(memory);
  if (type !== tmpfs || bavail * bsize < room || freemem() < 2 * room) return;
  const folder = mkdtempSync(join(memory, 'starpo-tests-'));
  // For tests with a second user.
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Containers and hardened machines may mount it noexec.
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  if (spawnSync(program).status !== 0) return;
  process.env.TMPDIR = folder;
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
}

// More cases, random inputs and data (`npm run nightly:tests`).
if (process.argv.includes('--thorough')) process.env.STARPO_THOROUGH = '1';
await setup({ forTests: true }).catch(fail);
keepFilesInMemory();

/** @type {Results[]} */
const totals = [];
/** @type {string[]} */
const lines = [];
async function runStages() {
  for (let stage = stages.shift(); stage; stage = stages.shift()) {
    const start = performance.now();
    const { output = '', ...results } = await stage.run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`\n== ${stage.name}\n${output}`);
    lines.push(`${stage.name.padEnd(12)}${seconds.padStart(7)} s  ${results.passed} passed, ${results.failed} failed`);
    totals.push(results);
  }
}
await Promise.all([runStages(), runStages(), runStages()]);
const { passed, failed, failures } = sum(totals);
// At the end, because logs are often cut above it.
if (failures.length > 0) console.log(`\n== failures\n${failures.join('\n\n')}`);
console.log(`\n${lines.join('\n')}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
