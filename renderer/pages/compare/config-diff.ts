import { settingFacts } from '../../../core/facts/setting-facts.ts';

export interface Difference {
  /** In run.json, as `optimizer.learning_rate`. */
  path: string;
  /** As the form of a new run calls it. */
  title: string;
  /** Of numbers; empty where there is none. */
  unit: string;
  meaning: string;
  /** Of each configuration, null where it has none. */
  values: (string | null)[];
}

/** What is no choice of the person who made the run, or follows from another setting. */
const passedOver = /^(version|preset|parent\.|start\.sha256$)/;

/** Settings that aren't the same in all configurations. */
export function differences(configs: readonly unknown[]): Difference[] {
  const flat = configs.map(leaves);
  const paths = [...new Set(flat.flatMap((each) => [...each.keys()]))];
  return paths.flatMap((path) => {
    const values = flat.map((each) => each.get(path) ?? null);
    if (passedOver.test(path) || new Set(values).size < 2) return [];
    const { title, unit, help, value } = settingFacts(path, typeOf(path, flat));
    const shown = values.map((each) => (each === null ? null : value(each)));
    return [{ path, title, unit, meaning: help, values: shown }];
  });
}

/** Of the environment that a setting is of, as far as one of the configurations has it. */
function typeOf(path: string, flat: readonly ReadonlyMap<string, string>[]): string | undefined {
  const environment = /^environments\.\d+/.exec(path)?.[0];
  return flat.flatMap((each) => each.get(`${environment}.type`) ?? [])[0];
}

/** Every value by its path, as text. */
function leaves(config: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
    else found.set(path, valueText(value));
  };
  visit(config, '');
  return found;
}

const valueText = (value: unknown): string =>
  value === '' ? '(empty)' : typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);

export interface RunGroup {
  label: string;
  /** Places of its runs in the list that was given. */
  members: number[];
}

/** A way to put runs into groups that differ by it. */
export interface Grouping {
  id: string;
  title: string;
  groups: RunGroup[];
}

interface Grouped {
  config: unknown;
  /** The point of its study, if it is of one. */
  point: string | null;
}

/** By the points of a study, by everything but the seed, and by each setting that differs: those that put at least two runs together somewhere, or tell all apart. */
export function groupings(runs: readonly Grouped[]): Grouping[] {
  const found = differences(runs.map(({ config }) => config));
  const settings = found.filter(({ path }) => path !== 'seed');
  const keyOf = (index: number) =>
    settings.map(({ path, values }) => `${shortPath(path)} ${values[index] ?? 'none'}`).join(', ');
  return [
    ...(runs.some(({ point }) => point !== null)
      ? [
          grouping(
            'point',
            'point of the study',
            runs.map(({ point }) => point ?? 'of no study'),
          ),
        ]
      : []),
    ...(settings.length > 0 && found.some(({ path }) => path === 'seed')
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
            'nothing: all runs together',
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

/** Without what it stands in: `clip_high` of `policy_loss.clip_high`. */
const shortPath = (path: string) => path.split('.').slice(-1)[0]!.replaceAll('_', ' ');

function grouping(id: string, title: string, keys: readonly string[]): Grouping {
  const members = new Map<string, number[]>();
  for (const [index, key] of keys.entries()) members.set(key, [...(members.get(key) ?? []), index]);
  return { id, title, groups: [...members].map(([label, own]) => ({ label, members: own })) };
}
