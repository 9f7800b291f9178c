import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Documents, and folders of documents. */
const documents = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs', 'benchmarks'];

/** @param {string} text @returns {string} the text without code blocks */
const withoutCode = (text) => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

/**
 * Returns the anchors of a document's headings, as GitHub names them.
 * @param {string} text @returns {Set<string>}
 */
function anchorsOf(text) {
  const anchors = new Set();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#+ +(.*)$/gm)) {
    const words = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/**
 * Returns links of documents to files and headings that don't exist, and npm scripts that package.json lacks.
 * @param {string} root @returns {string[]}
 */
export function checkDocuments(root) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  /** @param {string} path @returns {string} */
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const files = documents.flatMap((path) => {
    if (!existsSync(join(root, path))) return [];
    if (statSync(join(root, path)).isFile()) return [path];
    const names = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.md')).map((name) => join(path, name));
  });
  return files.sort().flatMap((file) => {
    const text = read(file);
    const problems = [];
    for (const [, link = ''] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(join(root, target))) problems.push(`${file}: ${link} was not found.`);
      else if (anchor !== undefined && !anchorsOf(read(target)).has(anchor))
        problems.push(`${file}: ${link} names a heading that doesn't exist.`);
    }
    for (const [, script = ''] of text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g))
      if (!(script in scripts)) problems.push(`${file}: package.json has no script ${script}.`);
    return problems;
  });
}
