import type { SettingValue, StudyPoint } from '../../../core/contract/contract.ts';
import { type PlacedField, valueText } from '../../stores/draft.ts';

/** The values of a sweep by setting path, as typed. */
export type Variation = Record<string, readonly SettingValue[]>;

/** Maximum length of a combination's name. */
const maxNameLength = 64;
/** Maximum length of a choice's title in a name; for longer ones the name uses the value in run.json. */
const maxTitleLength = 18;

/** Returns the values that a sweep of a setting starts with: the current one, and three times a number or the other state of a switch. */
export function initialValues(
  { type, maximum }: Pick<PlacedField, 'type' | 'maximum'>,
  value: SettingValue,
): SettingValue[] {
  if (type === 'boolean') return ['true', 'false'];
  const tripled = Number((3 * Number(value)).toPrecision(12));
  const isUsable = ['integer', 'number'].includes(type) && Number.isFinite(tripled) && tripled !== 0;
  return isUsable && (maximum === null || tripled <= maximum) ? [value, tripled] : [value];
}

/** Parses `1e-4, 3e-4` into unique values. */
export const readValues = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;\n]/)
      .map((piece) => piece.trim())
      .filter(Boolean),
  ),
];

/** Parses `1, 2, 5-8` into unique seeds; null if invalid. */
export function readSeeds(text: string): number[] | null {
  const seeds = new Set<number>();
  for (const piece of readValues(text)) {
    const [, from, to = from] = /^(\d{1,10})(?:\s*-\s*(\d{1,10}))?$/.exec(piece) ?? [];
    if (from === undefined || Number(to) < Number(from) || Number(to) - Number(from) > 99) return null;
    for (let seed = Number(from); seed <= Number(to); seed++) seeds.add(seed);
  }
  return seeds.size > 0 && seeds.size <= 100 && [...seeds].every((seed) => seed <= 0xffffffff) ? [...seeds] : null;
}

/** Returns every combination of the values, named after them. */
export function pointsOf(variation: Variation, fields: readonly PlacedField[]): StudyPoint[] {
  let sets: Record<string, SettingValue>[] = [{}];
  for (const [path, values] of Object.entries(variation))
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [path]: value })));
  // Without varied settings, only the seeds differ.
  const names = sets.map((set) => nameOf(set, fields) || 'base settings');
  return sets.map((set, index) => {
    const name = names[index]!;
    const usable = name.length <= maxNameLength && names.indexOf(name) === names.lastIndexOf(name);
    return { name: usable ? name : `setting ${index + 1}`, set };
  });
}

function nameOf(set: Record<string, SettingValue>, fields: readonly PlacedField[]): string {
  return Object.entries(set)
    .map(([path, value]) => {
      const field = fields.find(({ at }) => at === path);
      if (!field) return `${path} ${value}`;
      const text = valueText(value, field);
      return `${field.title} ${text.length <= maxTitleLength ? text : String(value).replaceAll('_', ' ')}`;
    })
    .join(', ');
}

export const runCount = (points: readonly StudyPoint[], seeds: readonly number[] | null): number =>
  points.length * (seeds?.length ?? 0);
