import { join } from 'node:path';
import { checkCircles } from './import-circles.mjs';
import { checkLayers } from './native-layers.mjs';
import { pinnedNode, root, run } from './process.mjs';

const tsc = (/** @type {string} */ project) => ['node_modules/typescript/bin/tsc', '-p', project];

const checks = [
  { name: 'types: core and shell', args: tsc('tsconfig.node.json') },
  { name: 'types: scripts', args: tsc('tsconfig.scripts.json') },
  { name: 'types: renderer', args: tsc('tsconfig.renderer.json') },
  { name: 'types: pages under test', args: tsc('tsconfig.pages.json') },
  { name: 'types: end to end', args: tsc('tsconfig.e2e.json') },
  {
    name: 'lint, format, layers',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  },
];

/**
 * Types, lint, format, the layers of both halves (core's in biome.json), and that no files import one another in a circle.
 * @returns {Promise<import('./test-counts.mjs').Counts & { output: string }>} output: a line for each, and what is wrong below it
 */
export async function runChecks() {
  const results = [];
  for (const { name, args } of checks) results.push({ name, ...(await run(pinnedNode(), args)) });
  const misplaced = checkLayers(join(root, 'native/src'));
  results.push({ name: 'native layers', status: misplaced.length, output: misplaced.join('\n') });
  const circles = checkCircles(root);
  results.push({ name: 'import circles', status: circles.length, output: circles.join('\n') });
  const passed = results.filter(({ status }) => status === 0).length;
  const lines = results.map(({ name, status, output }) =>
    status === 0 ? `ok      ${name}` : `FAILED  ${name}\n${output}`,
  );
  return { passed, failed: results.length - passed, output: lines.join('\n') };
}
