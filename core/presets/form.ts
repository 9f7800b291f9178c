import type { ConfigForm, FormField, FormSection } from '../contract/contract.ts';
import { environments } from '../environments/registry.ts';
import description from '../run-config/description.json' with { type: 'json' };
import {
  type FieldWords,
  firstPaths,
  hiddenPaths,
  type SectionWords,
  sections,
  settingHelp,
} from '../run-config/form-words.ts';
import type { Field } from '../run-config/schema.ts';
import { environmentWords, typeWords } from './environment-words.ts';

/** The form of a configuration: types and ranges from the trainer's description, titles and order from form-words.ts, help from options.json. */

/** Settings that get a multi-line text field. */
const longTexts = /\.prompt\.(system|first|next)$/;

function fieldOf({ type, maximum, choices = [], path }: Field, words: FieldWords): FormField {
  const kind = longTexts.test(path) ? 'text' : (type as FormField['type']);
  return {
    path: words.path,
    title: words.title,
    unit: words.unit ?? '',
    help: words.help ?? settingHelp(path),
    type: kind,
    maximum: maximum ?? null,
    choices: choices.map((value) => ({ value, title: words.choices?.[value] ?? value })),
  };
}

function sectionOf({ id, title, note, fields }: SectionWords, all: readonly Field[], prefix = ''): FormSection {
  const described = fields.map((words) => {
    const field = all.find(({ path }) => path === words.path);
    if (!field) throw new Error(`The form names ${prefix}${words.path}, which is not a key of run.json.`);
    return { ...fieldOf(field, words), path: prefix + words.path };
  });
  return { id, title, note, fields: described };
}

const fields = description.fields as readonly Field[];

/** Adds keys that have no title yet: each joins the section of its neighbors, and its title comes from its name. */
function withNewKeys(worded: readonly SectionWords[]): SectionWords[] {
  const listed = new Set([
    ...hiddenPaths,
    ...[...worded, environmentWords].flatMap((each) => each.fields.map(({ path }) => path)),
  ]);
  const added = fields.filter(({ path }) => !listed.has(path) && !path.startsWith('environments[]'));
  const placeOf = (path: string) => {
    const near = path.slice(0, path.lastIndexOf('.') + 1);
    return worded.find((each) => near !== '' && each.fields.some((field) => field.path.startsWith(near))) ?? worded[0]!;
  };
  return worded.map((section) => ({
    ...section,
    fields: [
      ...section.fields,
      ...added.filter(({ path }) => placeOf(path) === section).map(({ path }) => ({ path, title: plainTitle(path) })),
    ],
  }));
}

/** Turns `rollout_files.keep_first` into `Keep first`. */
function plainTitle(path: string): string {
  const name = path.slice(path.lastIndexOf('.') + 1).replaceAll('_', ' ');
  return `${name[0]!.toUpperCase()}${name.slice(1)}`;
}

let built: ConfigForm | undefined;

/** Returns the form. Only the first call builds it, because most commands show no setting. */
export function configForm(): ConfigForm {
  built ??= buildForm();
  return built;
}

const buildForm = (): ConfigForm => ({
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
});

const generalFields = ({ sections, environment }: ConfigForm) =>
  [...sections, environment].flatMap((section) => section.fields);

/** Returns the form field of a path such as `environments.0.config.size`. */
function fieldAt(path: string): FormField | undefined {
  const form = configForm();
  const general = path.replace(/^environments\.[^.]+/, 'environments[]');
  const ofTypes = Object.values(form.types).flatMap((section) => section.fields);
  return [...generalFields(form), ...ofTypes].findLast((field) => field.path === general);
}

/** Returns the title of a setting, or its path if the form does not show it. */
export const titleOf = (path: string): string => fieldAt(path)?.title ?? path;

/** Returns the title of a choice, or the value as text. */
export const valueTitle = (path: string, value: unknown): string =>
  fieldAt(path)?.choices.find((choice) => choice.value === value)?.title ?? String(value);

/** Replaces setting paths in a message of the trainer with their titles: `critic.model is none` becomes “Critic” is “None”. */
export function inTitles(text: string): string {
  let result = text;
  // Longer paths first, because a path may be the beginning of another.
  const longestFirst = generalFields(configForm()).sort((a, b) => b.path.length - a.path.length);
  for (const { path, title, choices } of longestFirst) {
    const pattern = new RegExp(
      `(?<![\\w.])${escapeRegExp(path).replace('\\[\\]', '\\[\\d+\\]')}(?!\\w|\\.\\w|\\[)( (?:is|isn't|must be) (\\w+)\\b)?`,
      'g',
    );
    result = result.replace(pattern, (whole, rest: string | undefined, value: string) => {
      const choice = choices.find((each) => each.value === value);
      const name = `“${title}”`;
      if (rest === undefined) return name;
      return choice
        ? `${name}${rest.slice(0, -value.length)}“${choice.title}”`
        : `${name}${whole.slice(whole.length - rest.length)}`;
    });
  }
  return result;
}

const escapeRegExp = (text: string) => text.replace(/[.[\]]/g, '\\$&');
