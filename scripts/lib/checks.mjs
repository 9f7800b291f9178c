import { join } from 'node:path';
import { checkLayers } from './native-layers.mjs';
import { pinnedNode, root, run } from './process.mjs';

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

/** Types, lint, format and the layers of both halves (core's in biome.json). @returns {Promise<import('./test-counts.mjs').Counts>} */
export async function runChecks() {
  let passed = 0;
  for (const { name, args } of checks) {
    const { status, output } = await run(pinnedNode(), args);
    if (say(name, status === 0, output)) passed += 1;
  }
  const misplaced = checkLayers(join(root, 'native/src'));
  if (say('native layers', misplaced.length === 0, misplaced.join('\n'))) passed += 1;
  return { passed, failed: checks.length + 1 - passed };
}

/** @param {string} name @param {boolean} fine @param {string} output what is wrong */
function say(name, fine, output) {
  console.log(`${fine ? 'ok    ' : 'FAILED'}  ${name}`);
  if (!fine) console.log(output);
  return fine;
}
