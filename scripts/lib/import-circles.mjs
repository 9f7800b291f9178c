import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** What is imported by a path: values and types, passed on too, at the beginning or on demand. */
const imports = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/**
 * The TypeScript files of some folders with what each of them imports, by their paths below the root.
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
 * The shortest way from a file back to itself; undefined where there is none. Pure.
 * @param {ReadonlyMap<string, readonly string[]>} graph @param {string} start
 */
function circleThrough(graph, start) {
  /** @type {Map<string, string[]>} */
  const ways = new Map([[start, [start]]]);
  // A map also gives what is added on the way, so nearer files come first.
  for (const [file, way] of ways)
    for (const next of graph.get(file) ?? []) {
      if (next === start) return [...way, start];
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  return undefined;
}

/**
 * Files that import one another in a circle, if only for a type: none of them can be read or replaced without the others. Every file that is in a circle is named at least once.
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {string[]} a line for each circle
 */
export function checkCircles(root, folders = ['core', 'renderer', 'electron']) {
  const graph = readImports(root, folders);
  const named = new Set();
  const wrong = [];
  for (const file of graph.keys()) {
    const circle = named.has(file) ? undefined : circleThrough(graph, file);
    if (!circle) continue;
    for (const each of circle) named.add(each);
    wrong.push(`${circle.join(' imports ')}: move what they share into a file below them.`);
  }
  return wrong;
}
