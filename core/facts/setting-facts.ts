import { environmentWords, typeWords } from '../presets/environment-words.ts';
import { type FieldWords, sections, settingMeaning } from '../run-config/form-words.ts';

/** What is known of a setting of run.json by its path. */
export interface SettingFacts {
  /** As in the form; of one that isn't in it, the words of its path. */
  title: string;
  /** `episodes`, `tokens`, ...; empty where it has none. */
  unit: string;
  /** As docs/formats/run-config.md has it; empty for those of environments' own configurations. */
  meaning: string;
  /** What people read for a value of it. */
  value: (text: string) => string;
}

const words = new Map<string, FieldWords>(
  [...sections, environmentWords].flatMap(({ fields }) => fields).map((field) => [field.path, field]),
);

/** `type`: of the environment whose setting it is, which has settings of its own. */
export function settingFacts(path: string, type = ''): SettingFacts {
  const general = path.replace(/\.\d+(?=\.|$)/g, '[]');
  const own = /^environments\.\d+\.config\.(.+)$/.exec(path)?.[1];
  const known = own
    ? typeWords[type]?.fields.find((field) => field.path === own)
    : (words.get(path) ?? words.get(general));
  const last = path.split('.').at(-1)!.replaceAll('_', ' ');
  return {
    title: known?.title ?? `${last.charAt(0).toUpperCase()}${last.slice(1)}`,
    unit: known?.unit ?? '',
    meaning: settingMeaning(general),
    value: (text) => known?.choices?.[text] ?? text,
  };
}
