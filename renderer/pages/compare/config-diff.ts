import { settingFacts } from '../../../core/facts/setting-facts.ts';

interface Difference {
  /** Path in run.json, such as `optimizer.learning_rate`. */
  path: string;
  /** Title in the form for a new run. */
  title: string;
  /** Unit of numbers; may be empty. */
  unit: string;
  meaning: string;
  /** One value per configuration; null if it has none. */
  values: (string | null)[];
}

/** Settings that follow from another setting or that the user didn't choose. */
const ignoredPaths = /^(version|preset|parent\.|start\.sha256$)/;

/** Returns the settings that differ between the configurations. */
export function differences(configs: readonly unknown[]): Difference[] {
  const flat = configs.map(leaves);
  const paths = [...new Set(flat.flatMap((each) => [...each.keys()]))];
  return paths.flatMap((path) => {
    const values = flat.map((each) => each.get(path) ?? null);
    if (ignoredPaths.test(path) || new Set(values).size < 2) return [];
    const { title, unit, help, value } = settingFacts(path, typeOf(path, flat));
    const shown = values.map((each) => (each === null ? null : value(each)));
    return [{ path, title, unit, meaning: help, values: shown }];
  });
}

/** Returns the type of the environment that a setting belongs to, if any configuration has it. */
function typeOf(path: string, flat: readonly ReadonlyMap<string, string>[]): string | undefined {
  const environment = /^environments\.\d+/.exec(path)?.[0];
  return flat.flatMap((each) => each.get(`${environment}.type`) ?? [])[0];
}

/** Returns all values as text, by path. */
function leaves(config: unknown): Map<string, string> {
  const values = new Map<string, string>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
    else values.set(path, valueText(value));
  };
  visit(config, '');
  return values;
}

const valueText = (value: unknown): string =>
  value === '' ? '(empty)' : typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);

interface RunGroup {
  label: string;
  /** Indices into the list of runs. */
  members: number[];
}

/** A way to group the runs. */
export interface Grouping {
  id: string;
  title: string;
  groups: RunGroup[];
}

interface Grouped {
  config: unknown;
  /** The run's settings in its sweep; null if it belongs to no sweep. */
  point: string | null;
}

/** Returns the ways to group runs: by sweep setting, by all settings but the seed, and by each setting that differs. */
export function groupings(runs: readonly Grouped[]): Grouping[] {
  const differing = differences(runs.map(({ config }) => config));
  const settings = differing.filter(({ path }) => path !== 'seed');
  const keyOf = (index: number) =>
    settings.map(({ path, values }) => `${shortPath(path)} ${values[index] ?? 'none'}`).join(', ');
  return [
    ...(runs.some(({ point }) => point !== null)
      ? [
          grouping(
            'point',
            'sweep setting',
            runs.map(({ point }) => point ?? 'no sweep'),
          ),
        ]
      : []),
    ...(settings.length > 0 && differing.some(({ path }) => path === 'seed')
      ? [
          grouping(
            'settings',
            'all settings but the seed',
            runs.map((_, index) => keyOf(index)),
          ),
        ]
      : []),
    ...(settings.length === 0 && runs.length > 1
      ? [
          grouping(
            'all',
            'all runs',
            runs.map(() => 'All runs'),
          ),
        ]
      : []),
    ...settings.map(({ path, title, values }) =>
      grouping(
        path,
        title,
        values.map((value) => `${shortPath(path)} ${value ?? 'none'}`),
      ),
    ),
  ];
}

/** Returns the last part of the path: `clip high` for `policy_loss.clip_high`. */
const shortPath = (path: string) => path.split('.').slice(-1)[0]!.replaceAll('_', ' ');

function grouping(id: string, title: string, keys: readonly string[]): Grouping {
  const members = new Map<string, number[]>();
  for (const [index, key] of keys.entries()) members.set(key, [...(members.get(key) ?? []), index]);
  return { id, title, groups: [...members].map(([label, own]) => ({ label, members: own })) };
}
