import { pinnedNode, run } from './process.mjs';

const tsc = (/** @type {string} */ project) => ['node_modules/typescript/bin/tsc', '-p', project];

const checks = [
  { name: 'types: core and shell', args: tsc('tsconfig.node.json') },
  { name: 'types: scripts', args: tsc('tsconfig.scripts.json') },
  { name: 'types: renderer', args: tsc('tsconfig.renderer.json') },
  { name: 'types: end to end', args: tsc('tsconfig.e2e.json') },
  {
    name: 'lint, format, layers',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  },
];

/** Types, lint, format and the rule of layers (in biome.json). @returns {Promise<import('./test-counts.mjs').Counts>} */
export async function runChecks() {
  let passed = 0;
  for (const { name, args } of checks) {
    const { status, output } = await run(pinnedNode(), args);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
    if (status === 0) passed += 1;
    else console.log(output);
  }
  return { passed, failed: checks.length - passed };
}
