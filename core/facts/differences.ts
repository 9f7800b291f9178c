/** Settings that follow from another setting or that the user didn't choose. */
const derivedPaths = /^(version|preset|parent\.|start\.sha256$)/;

export interface Difference {
  /** Path in run.json, such as `optimizer.learning_rate`. */
  path: string;
  /** One value per configuration, as in run.json; undefined if it has none. */
  values: unknown[];
}

/** Returns the chosen settings that differ between configurations. */
export function settingDifferences(configs: readonly unknown[]): Difference[] {
  const flat = configs.map(leavesOf);
  const paths = new Set(flat.flatMap((each) => [...each.keys()]));
  return [...paths].flatMap((path) => {
    const values = flat.map((each) => each.get(path));
    return derivedPaths.test(path) || new Set(values).size < 2 ? [] : [{ path, values }];
  });
}

/** Returns all values by path. */
function leavesOf(config: unknown): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
    else values.set(path, value);
  };
  visit(config, '');
  return values;
}
