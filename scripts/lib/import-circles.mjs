import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** Relative imports: static, dynamic, re-exports and types. */
const imports = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/**
 * Returns the relative imports of every TypeScript file in the folders, by path below the root.
 * @param {string} root @param {readonly string[]} folders
 */
export function readImports(root, folders) {
  /** @type {Map<string, string[]>} */
  const graph = new Map();
  for (const folder of folders) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => /\.tsx?$/.test(each)).sort()) {
      const file = join(folder, name.replaceAll('\\', '/'));
      const found = [...readFileSync(join(root, file), 'utf8').matchAll(imports)];
      graph.set(
        file,
        found.map(([, path = '']) => join(dirname(file), path)),
      );
    }
  }
  return graph;
}

/**
 * Returns the shortest import cycle through a file, or undefined.
 * @param {ReadonlyMap<string, readonly string[]>} graph @param {string} start
 */
function cycleThrough(graph, start) {
  /** @type {Map<string, string[]>} */
  const paths = new Map([[start, [start]]]);
  // Breadth-first: iterating a Map includes entries added during the loop.
  for (const [file, route] of paths)
    for (const next of graph.get(file) ?? []) {
      if (next === start) return [...route, start];
      if (!paths.has(next)) paths.set(next, [...route, next]);
    }
  return undefined;
}

/**
 * Finds import cycles, including type imports. Every file in a cycle is named at least once.
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {string[]} one line per cycle
 */
export function checkCycles(root, folders = ['core', 'renderer', 'electron']) {
  const graph = readImports(root, folders);
  const named = new Set();
  const wrong = [];
  for (const file of graph.keys()) {
    const cycle = named.has(file) ? undefined : cycleThrough(graph, file);
    if (!cycle) continue;
    for (const each of cycle) named.add(each);
    wrong.push(`${cycle.join(' imports ')}: move what they share into a file that both import.`);
  }
  return wrong;
}
