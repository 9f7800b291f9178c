import { readImports } from './import-circles.mjs';

/**
 * Layers of TypeScript folders, lowest first. Folders of one layer don't import each other.
 * @typedef {readonly (readonly string[])[]} Layers
 */

/**
 * Returns why an import is in the wrong direction, or undefined if it is right. Paths are relative to the tree.
 * @param {Layers} layers @param {string} file @param {string} imported
 */
export function wrongImport(layers, file, imported) {
  const [from, to] = [folderOf(file), folderOf(imported)];
  const [fromPage, toPage] = [pageOf(file), pageOf(imported)];
  if (fromPage && toPage && fromPage !== toPage) return 'pages do not import each other';
  if (from === to) return undefined;
  const [layer, below] = [from, to].map((folder) => layers.findIndex((each) => each.includes(folder)));
  if (layer === undefined || layer < 0)
    return `${from}/ is not assigned to a layer: add it to a list in scripts/lib/*-layers.mjs`;
  if (below === undefined || below < 0)
    return `${to}/ is not assigned to a layer: add it to a list in scripts/lib/*-layers.mjs`;
  return below < layer ? undefined : `${from}/ is not above ${to}/`;
}

/**
 * Finds every import of a tree that goes up or sideways.
 * @param {string} root the checkout @param {string} tree 'core' or 'renderer' @param {Layers} layers
 * @returns {string[]} one line per import
 */
export function checkFolderLayers(root, tree, layers) {
  const wrong = [];
  for (const [file, imports] of readImports(root, [tree]))
    for (const imported of imports) {
      if (!imported.startsWith(`${tree}/`)) continue;
      const reason = wrongImport(layers, file.slice(tree.length + 1), imported.slice(tree.length + 1));
      if (reason) wrong.push(`${file} imports ${imported}: ${reason}.`);
    }
  return wrong;
}

/** @param {string} path */
const folderOf = (path) => (path.includes('/') ? (path.split('/')[0] ?? '') : 'index');

/** @param {string} path */
const pageOf = (path) => /^pages\/([^/]+)\//.exec(path)?.[1];
