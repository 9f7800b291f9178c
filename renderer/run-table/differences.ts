import { isDerived, settingFacts } from '../../core/facts/setting-facts.ts';
import { PathIndex, type Settings, settingText } from './settings.ts';

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

/** Returns the settings that differ between the configurations. */
export function differences(configs: readonly Settings[]): Difference[] {
  return new PathIndex().update(new Set(configs)).differing.flatMap((path) => {
    if (isDerived(path)) return [];
    const values = configs.map((each) => textAt(each, path));
    const { title, unit, help, value } = settingFacts(path, environmentType(path, configs));
    const shown = values.map((each) => (each === null ? null : value(each)));
    return [{ path, title, unit, meaning: help, values: shown }];
  });
}

function textAt(settings: Settings, path: string): string | null {
  const value = settings.get(path);
  return value === undefined ? null : settingText(value);
}

/** Returns the type of the environment that a setting belongs to, if any configuration has it. */
export function environmentType(path: string, configs: Iterable<Settings>): string | undefined {
  const environment = /^environments\.\d+/.exec(path)?.[0];
  for (const config of environment ? configs : []) {
    const type = config.get(`${environment}.type`);
    if (typeof type === 'string') return type;
  }
  return undefined;
}

interface RunGroup {
  label: string;
  /** Indices into the list of runs. */
  members: number[];
}

/** The runs, grouped by the choice `id`. */
export interface Grouping {
  id: string;
  groups: RunGroup[];
}

export interface GroupingChoice {
  /** `point`, `settings`, `all` or the path of a setting. */
  id: string;
  title: string;
}

export interface Grouped {
  settings: Settings;
  /** The run's settings in its sweep; null if it belongs to no sweep. */
  point: string | null;
}

/**
 * Returns the ways to group runs: by sweep setting, by all settings but the seed, and by each setting that differs; all runs as one group if no setting but the seed differs. `index`: of the previous
 * call, which saves time.
 */
export function groupingChoices(runs: readonly Grouped[], index = new PathIndex()): GroupingChoice[] {
  const configs = new Set(runs.map(({ settings }) => settings));
  const differing = index.update(configs).differing.filter((path) => !isDerived(path));
  const settings = differing.filter((path) => path !== 'seed');
  const general = [
    ...(runs.some(({ point }) => point !== null) ? ['point'] : []),
    ...(settings.length > 0 && settings.length < differing.length ? ['settings'] : []),
    ...(settings.length === 0 && runs.length > 1 ? ['all'] : []),
  ];
  return [
    ...general.map((id) => ({ id, title: groupingTitle(id) })),
    ...settings.map((path) => ({ id: path, title: settingFacts(path, environmentType(path, configs)).title })),
  ];
}

const titles: Record<string, string> = {
  point: 'sweep setting',
  settings: 'all settings but the seed',
  all: 'all runs',
};

export const groupingTitle = (id: string): string => titles[id] ?? settingFacts(id).title;

/** Groups runs by a choice of {@link groupingChoices}, also if it doesn't separate these runs. */
export function groupBy(id: string, runs: readonly Grouped[]): Grouping {
  const members = new Map<string, number[]>();
  for (const [index, label] of labelsBy(id, runs).entries()) members.set(label, [...(members.get(label) ?? []), index]);
  return { id, groups: [...members].map(([label, own]) => ({ label, members: own })) };
}

function labelsBy(id: string, runs: readonly Grouped[]): string[] {
  if (id === 'point') return runs.map(({ point }) => point ?? 'no sweep');
  if (id === 'all') return runs.map(() => 'All runs');
  const configs = runs.map(({ settings }) => settings);
  if (id === 'settings') {
    const settings = differences(configs).filter(({ path }) => path !== 'seed');
    const labelOf = (index: number) =>
      settings.map(({ path, values }) => `${shortPath(path)} ${values[index] ?? 'none'}`).join(', ');
    return runs.map((_, index) => labelOf(index) || 'All runs');
  }
  const { value } = settingFacts(id, environmentType(id, configs));
  return configs.map((each) => {
    const text = textAt(each, id);
    return `${shortPath(id)} ${text === null ? 'none' : value(text)}`;
  });
}

/** Returns the last part of the path: `clip high` for `policy_loss.clip_high`. */
const shortPath = (path: string) => path.split('.').slice(-1)[0]!.replaceAll('_', ' ');
