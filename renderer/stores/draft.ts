import type {
  ConfigForm,
  FormField,
  FormSection,
  RunSource,
  Settings,
  SettingValue,
} from '../../core/contract/contract.ts';

/** Pure functions for an edited configuration: a base and its edits. */

export type Config = Record<string, unknown>;

export interface Draft {
  source: RunSource;
  /** The complete base configuration. */
  base: Config;
  /** Edits as typed. The server validates them. */
  edits: Settings;
}

/** A field at its path in the configuration: `environments[].config.size` at `environments.0.config.size`. */
export interface PlacedField extends FormField {
  at: string;
}

export interface PlacedSection extends Omit<FormSection, 'fields'> {
  fields: PlacedField[];
}

const isObject = (value: unknown): value is Config => typeof value === 'object' && value !== null;

/** Returns every setting with its value, by path. */
export function flatten(config: Config, prefix = ''): Map<string, SettingValue> {
  const leaves = new Map<string, SettingValue>();
  for (const [key, value] of Object.entries(config)) {
    if (!isObject(value)) leaves.set(prefix + key, value as SettingValue);
    else for (const [path, leaf] of flatten(value, `${prefix}${key}.`)) leaves.set(path, leaf);
  }
  return leaves;
}

/** Returns a copy with the edits applied. A value of the wrong type stays text. */
export function applyEdits({ base, edits }: Pick<Draft, 'base' | 'edits'>): Config {
  const copy = structuredClone(base);
  const leaves = flatten(base);
  for (const [path, value] of Object.entries(edits)) {
    const parts = path.split('.');
    let parent: unknown = copy;
    for (const part of parts.slice(0, -1)) parent = isObject(parent) ? parent[part] : undefined;
    if (isObject(parent)) parent[parts.at(-1)!] = parseLike(value, leaves.get(path));
  }
  return copy;
}

/** Converts typed text to the type of `model`, if possible. */
function parseLike(value: SettingValue, model: SettingValue | undefined): SettingValue {
  if (typeof model === 'number' && typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value);
  if (typeof model === 'boolean' && typeof value === 'string') return value === 'true';
  return value;
}

/** Compares by value: `1e-4` equals `0.0001`. */
export const isSame = (a: SettingValue | undefined, b: SettingValue | undefined): boolean =>
  a !== undefined && b !== undefined && (String(a) === String(b) || parseLike(a, b) === b);

/** Adds an edit, or removes it if it equals the base value. */
export function withEdit({ base, edits }: Pick<Draft, 'base' | 'edits'>, path: string, value: SettingValue): Settings {
  const { [path]: _, ...others } = edits;
  return isSame(value, flatten(base).get(path)) ? others : { ...others, [path]: value };
}

/** Returns the values of `other` that differ from `base`; null if they don't have the same settings. */
export function differences(base: Config, other: Config): Settings | null {
  const ours = flatten(base);
  const theirs = flatten(other);
  if (ours.size !== theirs.size || [...ours.keys()].some((path) => !theirs.has(path))) return null;
  return Object.fromEntries([...theirs].filter(([path, value]) => !isSame(value, ours.get(path))));
}

interface EnvironmentEntry {
  label: string;
  type: string;
}

export const environmentsOf = (config: Config): EnvironmentEntry[] => config.environments as EnvironmentEntry[];

/** Returns the name of an environment: its type's title, but the label of a program that was given one. */
export const environmentName = (form: ConfigForm, { label, type }: { label: string; type: string }): string =>
  type === 'process' && label !== type ? label : (form.types[type]?.title ?? label);

/** Returns the form's sections for a configuration, with one section per environment. */
export function placeSections(form: ConfigForm, config: Config): PlacedSection[] {
  const commonSections = form.sections.map((section) => ({
    ...section,
    fields: section.fields.map((field) => ({ ...field, at: field.path })),
  }));
  const all = environmentsOf(config);
  const environments = all.map(({ label, type }, index): PlacedSection => {
    const kind = form.types[type];
    const title = environmentName(form, { label, type });
    const alone = all.filter((each) => each.type === type).length === 1;
    const fields = [...(kind?.fields ?? []), ...form.environment.fields];
    return {
      id: `environment-${index}`,
      title: `Environment: ${title}${title !== label && label !== type && !alone ? `, ${label}` : ''}`,
      note: kind?.note ?? form.environment.note,
      fields: fields.map((field) => ({ ...field, at: field.path.replace('[]', `.${index}`) })),
    };
  });
  return [...commonSections.slice(0, 2), ...environments, ...commonSections.slice(2)];
}

export const isPrompt = ({ at }: Pick<PlacedField, 'at'>): boolean => /^environments\.\d+\.prompt\./.test(at);

/** Returns the fields whose section title, title, path, help and choices together contain all words of the query. */
export function findFields(sections: readonly PlacedSection[], query: string): PlacedSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...sections];
  return sections.flatMap((section) => {
    const fields = section.fields.filter(({ title, path, help, choices }) => {
      const text = [section.title, title, path, help, ...choices.map((choice) => choice.title)].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return fields.length > 0 ? [{ ...section, fields }] : [];
  });
}

/** Formats a value for a field; small numbers in exponential notation, such as `1e-6`. */
export const formatValue = (value: SettingValue): string =>
  typeof value === 'number' && value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);

export function valueText(value: SettingValue | undefined, { choices }: Pick<FormField, 'choices'>): string {
  if (value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return choices.find((choice) => choice.value === value)?.title ?? (value === '' ? 'empty' : formatValue(value));
}
