import type {
  ConfigForm,
  FormField,
  FormSection,
  RunSource,
  Settings,
  SettingValue,
} from '../../core/contract/contract.ts';

/** A configuration in the making: what it is made from, and what is changed of it. Everything here is pure. */

export type Config = Record<string, unknown>;

export interface Draft {
  source: RunSource;
  /** What it is made from, whole. */
  base: Config;
  /** What is changed, as it was typed; core says what is wrong with it. */
  edits: Settings;
}

/** A field at its place in the configuration: `environments[].config.size` at `environments.0.config.size`. */
export interface PlacedField extends FormField {
  /** As settings name it. */
  at: string;
}

export interface PlacedSection extends Omit<FormSection, 'fields'> {
  fields: PlacedField[];
}

const isBranch = (value: unknown): value is Config => typeof value === 'object' && value !== null;

/** Every setting with its value, by path. */
export function flatten(config: Config, prefix = ''): Map<string, SettingValue> {
  const leaves = new Map<string, SettingValue>();
  for (const [key, value] of Object.entries(config)) {
    if (!isBranch(value)) leaves.set(prefix + key, value as SettingValue);
    else for (const [path, leaf] of flatten(value, `${prefix}${key}.`)) leaves.set(path, leaf);
  }
  return leaves;
}

/** A copy with its changes; what isn't of the setting's type stays the text that it is. */
export function applied({ base, edits }: Pick<Draft, 'base' | 'edits'>): Config {
  const copy = structuredClone(base);
  const leaves = flatten(base);
  for (const [path, value] of Object.entries(edits)) {
    const parts = path.split('.');
    let place: unknown = copy;
    for (const part of parts.slice(0, -1)) place = isBranch(place) ? place[part] : undefined;
    if (isBranch(place)) place[parts.at(-1)!] = typed(value, leaves.get(path));
  }
  return copy;
}

function typed(value: SettingValue, model: SettingValue | undefined): SettingValue {
  if (
    typeof model === 'number' &&
    typeof value === 'string' &&
    value.trim() !== '' &&
    Number.isFinite(Number(value))
  )
    return Number(value);
  if (typeof model === 'boolean' && typeof value === 'string') return value === 'true';
  return value;
}

/** `1e-4` is the same as `0.0001`. */
export const isSame = (a: SettingValue | undefined, b: SettingValue | undefined): boolean =>
  a !== undefined && b !== undefined && (String(a) === String(b) || typed(a, b) === b);

/** The changes with one more, or without it where it says what is there anyway. */
export function edited(
  { base, edits }: Pick<Draft, 'base' | 'edits'>,
  path: string,
  value: SettingValue,
): Settings {
  const { [path]: _, ...others } = edits;
  return isSame(value, flatten(base).get(path)) ? others : { ...others, [path]: value };
}

/** Where two configurations have the same settings: what differs in the second; else null. */
export function differences(base: Config, other: Config): Settings | null {
  const ours = flatten(base);
  const theirs = flatten(other);
  if (ours.size !== theirs.size || [...ours.keys()].some((path) => !theirs.has(path))) return null;
  return Object.fromEntries([...theirs].filter(([path, value]) => !isSame(value, ours.get(path))));
}

interface EnvironmentOf {
  label: string;
  type: string;
}

export const environmentsOf = (config: Config): EnvironmentOf[] => config.environments as EnvironmentOf[];

/** The form's sections for a configuration: one for each environment after those that are always there. */
export function placeSections(form: ConfigForm, config: Config): PlacedSection[] {
  const own = form.sections.map((section) => ({
    ...section,
    fields: section.fields.map((field) => ({ ...field, at: field.path })),
  }));
  const all = environmentsOf(config);
  const environments = all.map(({ label, type }, index): PlacedSection => {
    const kind = form.types[type];
    const alone = all.filter((each) => each.type === type).length === 1;
    const fields = [...(kind?.fields ?? []), ...form.environment.fields];
    return {
      id: `environment-${index}`,
      title: `Environment: ${kind ? kind.title : label}${kind && label !== type && !alone ? `, ${label}` : ''}`,
      note: kind?.note ?? form.environment.note,
      fields: fields.map((field) => ({ ...field, at: field.path.replace('[]', `.${index}`) })),
    };
  });
  return [...own.slice(0, 2), ...environments, ...own.slice(2)];
}

export const isPrompt = ({ at }: Pick<PlacedField, 'at'>): boolean => /^environments\.\d+\.prompt\./.test(at);

/** Fields that a search finds: by title, path, help and choices, all of its words. */
export function findFields(sections: readonly PlacedSection[], query: string): PlacedSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...sections];
  return sections.flatMap((section) => {
    const fields = section.fields.filter(({ title, path, help, choices }) => {
      const text = [section.title, title, path, help, ...choices.map((choice) => choice.title)]
        .join(' ')
        .toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return fields.length > 0 ? [{ ...section, fields }] : [];
  });
}

/** A value as a field begins with it: `1e-6`, where its zeros would have to be counted. */
export const asText = (value: SettingValue): string =>
  typeof value === 'number' && value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);

/** A value as people read it. */
export function inWords(value: SettingValue | undefined, { choices }: Pick<FormField, 'choices'>): string {
  if (value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return choices.find((choice) => choice.value === value)?.title ?? (value === '' ? 'empty' : asText(value));
}
