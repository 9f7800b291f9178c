/** A configuration as plain JSON, accessed by path. */
export type Tree = { [key: string]: unknown };

const isBranch = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Returns the paths of all leaves, such as `rollout.groups` and `environments.0.config.size`. */
export function keyPaths(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isBranch(value) ? keyPaths(value, `${prefix}${key}.`) : [prefix + key],
  );
}

/**
 * Returns the object and key at a path, or null if there is none. List elements are addressed by index or by `label`.
 */
export function locate(tree: Tree, path: string): { parent: Tree; key: string } | null {
  const parts = path.split('.');
  let parent: Tree = tree;
  for (const [index, part] of parts.entries()) {
    const key = Array.isArray(parent) ? elementKey(parent, part) : part;
    if (!Object.hasOwn(parent, key)) return null;
    if (index === parts.length - 1) return { parent, key };
    const next = parent[key];
    if (!isBranch(next)) return null;
    parent = next;
  }
  return null;
}

function elementKey(list: unknown[], part: string): string {
  if (/^\d+$/.test(part)) return part;
  return String(list.findIndex((element) => isBranch(element) && element.label === part));
}
