import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks.mjs';
import { fail, pinnedNode, root, run } from './lib/process.mjs';
import { setup } from './lib/setup-steps.mjs';
import { doctestCounts, sum, vitestCounts } from './lib/test-counts.mjs';

/** @typedef {import('./lib/test-counts.mjs').Counts} Counts */

/** @type {Record<string, () => Promise<Counts>>} */
const stages = {
  check: runChecks,
  native: runNativeTests,
  unit: () => runVitest(['node', 'renderer']),
  'end to end': () => runVitest(['e2e']),
};

async function runNativeTests() {
  const { status, output } = await run(join(root, 'native/build/starpo-tests'), [], { show: true });
  return doctestCounts(output, status);
}

/** @param {string[]} projects @returns {Promise<Counts>} */
async function runVitest(projects) {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-tests-'));
  const report = join(folder, 'report.json');
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = await run(
    pinnedNode(),
    ['node_modules/vitest/vitest.mjs', 'run', ...projects.map((name) => `--project=${name}`), ...args],
    { show: true },
  );
  const counts = vitestCounts(existsSync(report) ? readFileSync(report, 'utf8') : undefined, status);
  rmSync(folder, { recursive: true });
  return counts;
}

await setup({ forTests: true }).catch(fail);

const totals = [];
const lines = [];
for (const [name, stage] of Object.entries(stages)) {
  console.log(`\n== ${name}`);
  const start = performance.now();
  const counts = await stage();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  lines.push(`${name.padEnd(12)}${seconds.padStart(7)} s  ${counts.passed} passed, ${counts.failed} failed`);
  totals.push(counts);
}
const { passed, failed } = sum(totals);
console.log(`\n${lines.join('\n')}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
