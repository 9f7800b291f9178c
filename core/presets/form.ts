import type { ConfigForm, FormField, FormSection } from '../contract/contract.ts';
import { environments } from '../environments/registry.ts';
import description from '../run-config/description.json' with { type: 'json' };
import {
  type FieldWords,
  firstPaths,
  kept,
  type SectionWords,
  sections,
  settingMeaning,
} from '../run-config/form-words.ts';
import type { Field } from '../run-config/schema.ts';
import { environmentWords, typeWords } from './environment-words.ts';

/** The form of a configuration: the trainer's description of the keys (type, range) with the words that people read (form-words.ts). */

/** Texts of several lines. */
const longTexts = /\.prompt\.(system|first|next)$/;

function fieldOf({ type, minimum, maximum, choices = [], path }: Field, words: FieldWords): FormField {
  const kind = longTexts.test(path) ? 'text' : (type as FormField['type']);
  return {
    path: words.path,
    title: words.title,
    unit: words.unit ?? '',
    help: words.help ?? sentence(settingMeaning(path)),
    type: kind,
    minimum: minimum ?? null,
    maximum: maximum ?? null,
    choices: choices.map((value) => ({ value, title: words.choices?.[value] ?? value })),
  };
}

function sentence(text: string): string {
  return text && `${text[0]!.toUpperCase()}${text.slice(1)}${/[.:]$/.test(text) ? '' : '.'}`;
}

function sectionOf(
  { id, title, note, fields }: SectionWords,
  all: readonly Field[],
  prefix = '',
): FormSection {
  const described = fields.map((words) => {
    const field = all.find(({ path }) => path === words.path);
    if (!field) throw new Error(`form-words.ts names ${words.path}, which run.json doesn't have`);
    return { ...fieldOf(field, words), path: prefix + words.path };
  });
  return { id, title, note, fields: described };
}

const fields = description.fields as readonly Field[];

/** A new key needs no words to be offered: it stands with its neighbours, and is called after itself. */
function withNewKeys(worded: readonly SectionWords[]): SectionWords[] {
  const known = new Set([
    ...kept,
    ...[...worded, environmentWords].flatMap((each) => each.fields.map(({ path }) => path)),
  ]);
  const added = fields.filter(({ path }) => !known.has(path) && !path.startsWith('environments[]'));
  const placeOf = (path: string) => {
    const near = path.slice(0, path.lastIndexOf('.') + 1);
    return (
      worded.find((each) => near !== '' && each.fields.some((field) => field.path.startsWith(near))) ??
      worded[0]!
    );
  };
  return worded.map((section) => ({
    ...section,
    fields: [
      ...section.fields,
      ...added
        .filter(({ path }) => placeOf(path) === section)
        .map(({ path }) => ({ path, title: plainTitle(path) })),
    ],
  }));
}

/** `rollout_files.keep_first` as `Keep first`. */
function plainTitle(path: string): string {
  const name = path.slice(path.lastIndexOf('.') + 1).replaceAll('_', ' ');
  return `${name[0]!.toUpperCase()}${name.slice(1)}`;
}

export const configForm: ConfigForm = {
  first: [...firstPaths],
  sections: withNewKeys(sections).map((section) => sectionOf(section, fields)),
  environment: sectionOf(environmentWords, fields),
  types: Object.fromEntries(
    Object.entries(description.environments as Record<string, readonly Field[]>).map(([type, own]) => {
      const bare = {
        id: type,
        title: type,
        note: '',
        fields: own.map(({ path }) => ({ path, title: path })),
      };
      return [type, sectionOf(typeWords[type] ?? bare, own, 'environments[].config.')];
    }),
  ),
  addable: environments.map(({ type, preset, chatPrompt }) => ({
    title: typeWords[type]?.title ?? type,
    environment: { ...preset },
    chatPrompt: { ...chatPrompt },
  })),
};

const byPath = new Map(
  [...configForm.sections, configForm.environment, ...Object.values(configForm.types)].flatMap((section) =>
    section.fields.map((field) => [field.path, field]),
  ),
);

/** The field of the setting at `environments.0.config.size`. */
const fieldAt = (path: string) => byPath.get(path.replace(/^environments\.[^.]+/, 'environments[]'));

/** What a form calls a setting; the path itself where it doesn't offer it. */
export const titleOf = (path: string): string => fieldAt(path)?.title ?? path;

/** A setting's value as a form says it: the title of a choice. */
export const valueInWords = (path: string, value: unknown): string =>
  fieldAt(path)?.choices.find((choice) => choice.value === value)?.title ?? String(value);

const offered = [...configForm.sections, configForm.environment].flatMap((section) => section.fields);
const longestFirst = offered.toSorted((a, b) => b.path.length - a.path.length);

/** A sentence of the trainer with the titles of the settings that it names: `critic.model is none` becomes “Critic” is “None”. */
export function inTitles(text: string): string {
  let words = text;
  for (const { path, title, choices } of longestFirst) {
    const named = new RegExp(
      `(?<![\\w.])${literal(path).replace('\\[\\]', '\\[\\d+\\]')}(?![\\w.[])( (?:is|isn't|must be) (\\w+)\\b)?`,
      'g',
    );
    words = words.replace(named, (whole, said: string | undefined, value: string) => {
      const choice = choices.find((each) => each.value === value);
      const name = `“${title}”`;
      if (said === undefined) return name;
      return choice
        ? `${name}${said.slice(0, -value.length)}“${choice.title}”`
        : `${name}${whole.slice(whole.length - said.length)}`;
    });
  }
  return words;
}

const literal = (text: string) => text.replace(/[.[\]]/g, '\\$&');
