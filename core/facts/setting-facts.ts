import { environmentWords, typeWords } from '../presets/environment-words.ts';
import { type FieldWords, sections, settingHelp } from '../run-config/form-words.ts';

/** Title, unit and help of a setting in run.json. */
interface SettingFacts {
  /** The form's title. For a setting that is not in the form, the last part of its path. */
  title: string;
  /** `episodes`, `tokens`, ...; empty if there is none. */
  unit: string;
  /** Help text; empty for settings of an environment type. */
  help: string;
  /** Returns the title of a value. */
  value: (text: string) => string;
}

const words = new Map<string, FieldWords>(
  [...sections, environmentWords].flatMap(({ fields }) => fields).map((field) => [field.path, field]),
);

/** Facts by type and path. A table of runs needs those of every setting whenever a run is added. */
const known = new Map<string, SettingFacts>();

/** Looks up a setting by its path. `type`: type of the environment, for paths below `environments.N.config`. */
export function settingFacts(path: string, type = ''): SettingFacts {
  const key = `${type} ${path}`;
  const facts = known.get(key) ?? findFacts(path, type);
  known.set(key, facts);
  return facts;
}

function findFacts(path: string, type: string): SettingFacts {
  const general = path.replace(/\.\d+(?=\.|$)/g, '[]');
  const own = /^environments\.\d+\.config\.(.+)$/.exec(path)?.[1];
  const found = own
    ? typeWords[type]?.fields.find((field) => field.path === own)
    : (words.get(path) ?? words.get(general));
  const last = path.split('.').at(-1)!.replaceAll('_', ' ');
  return {
    title: found?.title ?? `${last.charAt(0).toUpperCase()}${last.slice(1)}`,
    unit: found?.unit ?? '',
    help: settingHelp(general),
    value: (text) => found?.choices?.[text] ?? text,
  };
}

/** Returns whether a setting follows from another one or was not chosen by the user, so that comparisons leave it out. */
export const isDerived = (path: string): boolean => /^(version|preset|parent\.|start\.sha256$|imported\.)/.test(path);
