import { join } from 'node:path';
import { formatNative } from './clang-format.mjs';
import { coreLayers } from './core-layers.mjs';
import { checkDocuments } from './doc-links.mjs';
import { checkFolderLayers } from './folder-layers.mjs';
import { checkCycles } from './import-circles.mjs';
import { checkConstants } from './native-constants.mjs';
import { checkLayers } from './native-layers.mjs';
import { pinnedNode, root, run } from './process.mjs';
import { rendererLayers } from './renderer-layers.mjs';

// One thread without garbage collection halves the processor time of tsc, because several threads infer the same types.
const tsc = (/** @type {string} */ project) => ['node_modules/typescript/bin/tsc', '--singleThreaded', '-p', project];
const env = { ...process.env, GOGC: 'off' };

const checks = [
  { name: 'types: core and shell', args: tsc('tsconfig.node.json') },
  { name: 'types: scripts', args: tsc('tsconfig.scripts.json') },
  { name: 'types: renderer', args: tsc('tsconfig.renderer.json') },
  { name: 'types: pages under test', args: tsc('tsconfig.pages.json') },
  { name: 'types: end to end', args: tsc('tsconfig.e2e.json') },
  {
    name: 'lint, format',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  },
];

/**
 * Runs types, lint, format, the layers of core, renderer and trainer, native constants, links of documents, and the search for import cycles.
 * @returns {Promise<import('./test-results.mjs').Results & { output: string }>} output: one line per check, with its problems below
 */
export async function runChecks() {
  const results = [];
  for (const { name, args } of checks) results.push({ name, ...(await run(pinnedNode(), args, { env })) });
  for (const { name, problems } of [
    { name: 'core layers', problems: checkFolderLayers(root, 'core', coreLayers) },
    { name: 'renderer layers', problems: checkFolderLayers(root, 'renderer', rendererLayers) },
    { name: 'native layers', problems: checkLayers(join(root, 'native/src')) },
    { name: 'native constants', problems: checkConstants(join(root, 'native')) },
    { name: 'import cycles', problems: checkCycles(root) },
    { name: 'links of documents', problems: checkDocuments(root) },
    { name: 'C++ format', problems: await formatNative(root) },
  ])
    results.push({ name, status: problems.length, output: problems.join('\n') });
  const lines = results.map(({ name, status, output }) =>
    status === 0 ? `ok      ${name}` : `FAILED  ${name}\n${output}`,
  );
  const failures = results.filter(({ status }) => status !== 0).map(({ name }) => `The check "${name}" failed.`);
  return { passed: results.length - failures.length, failed: failures.length, failures, output: lines.join('\n') };
}
