import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks.mjs';
import { describe, fail, pinnedNode, root, run } from './lib/process.mjs';
import { setup, setupNativeTests } from './lib/setup-steps.mjs';
import { doctestCounts, sum, vitestCounts } from './lib/test-counts.mjs';

/** @typedef {import('./lib/test-counts.mjs').Counts} Counts */

/**
 * The long ones side by side: vitest's tests often wait for other processes, whose time the others use. The native stage waits for nothing, so that it steps back
 * and fills what they leave. The unit tests print as they go, the others at their end.
 * @type {{ name: string, run: () => Promise<Counts & { output?: string }> }[]}
 */
const stages = [
  { name: 'unit', run: () => runVitest(['node', 'renderer'], true) },
  { name: 'end to end', run: () => runVitest(['e2e'], false) },
  { name: 'native', run: runNativeTests },
  { name: 'check', run: runChecks },
];

/** Built here, beside tests that need only the trainer. The CUDA engine's and all others: two halves, for each of which one core is enough. */
async function runNativeTests() {
  // No more than this: beside somebody else's work it must get on.
  const niceness = 4;
  try {
    await setupNativeTests({ niceness });
  } catch (error) {
    return { passed: 0, failed: 1, output: describe(error) };
  }
  const program = join(root, 'native/build/starpo-tests');
  const halves = ['-sf=*/cuda_*', '-sfe=*/cuda_*'].map((files) => run(program, [files], { niceness }));
  const ended = await Promise.all(halves);
  const counts = sum(ended.map(({ output, status }) => doctestCounts(output, status)));
  return { ...counts, output: ended.map(({ output }) => output).join('\n') };
}

/** @param {string[]} projects @param {boolean} show as it goes @returns {Promise<Counts & { output: string }>} */
async function runVitest(projects, show) {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-tests-'));
  const report = join(folder, 'report.json');
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status, output } = await run(
    pinnedNode(),
    ['node_modules/vitest/vitest.mjs', 'run', ...projects.map((name) => `--project=${name}`), ...args],
    { show, env: { ...process.env, STARPO_CLI: 'out/main/cli.cjs' } },
  );
  const counts = vitestCounts(existsSync(report) ? readFileSync(report, 'utf8') : undefined, status);
  rmSync(folder, { recursive: true });
  return { ...counts, output: show ? '' : output };
}

await setup({ forTests: true }).catch(fail);

/** @type {Counts[]} */
const totals = [];
/** @type {string[]} */
const lines = [];
async function runStages() {
  for (let stage = stages.shift(); stage; stage = stages.shift()) {
    const start = performance.now();
    const { output = '', ...counts } = await stage.run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`\n== ${stage.name}\n${output}`);
    lines.push(
      `${stage.name.padEnd(12)}${seconds.padStart(7)} s  ${counts.passed} passed, ${counts.failed} failed`,
    );
    totals.push(counts);
  }
}
await Promise.all([runStages(), runStages(), runStages()]);
const { passed, failed } = sum(totals);
console.log(`\n${lines.join('\n')}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
