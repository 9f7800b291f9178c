import { Failure } from '../contract/failure.ts';
import { locate, type Tree } from './tree.ts';
import { unknownKey } from './validate.ts';

export type Setting = string | number | boolean;

/** Splits `key=value` texts of the command line. Throws `config_invalid` where there is no `=`. */
export function parseSettings(texts: readonly string[]): Record<string, Setting> {
  const settings: Record<string, Setting> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) {
      throw new Failure('config_invalid', `"${text}" is not key=value`, 'Write it as --set iterations=20.');
    }
    settings[text.slice(0, at)] = text.slice(at + 1);
  }
  return settings;
}

/**
 * A copy of a configuration with some keys changed. A text is read as the type of the value that it replaces, which is
 * the schema's, since every key is present. Ranges are checked later, over the whole.
 */
export function applySettings<T extends object>(config: T, settings: Record<string, Setting>): T {
  const copy = structuredClone(config);
  for (const [path, setting] of Object.entries(settings)) {
    const place = locate(copy as Tree, path);
    if (!place) throw unknownKey(path, config as Tree);
    place.parent[place.key] = convert(path, place.parent[place.key], setting);
  }
  return copy;
}

function convert(path: string, current: unknown, setting: Setting): unknown {
  switch (typeof current) {
    case 'string':
      return String(setting);
    case 'number': {
      const value = typeof setting === 'string' && setting.trim() === '' ? Number.NaN : Number(setting);
      if (typeof setting === 'boolean' || !Number.isFinite(value))
        throw mistyped(path, setting, 'a number', String(current));
      return value;
    }
    case 'boolean': {
      const text = String(setting);
      if (text !== 'true' && text !== 'false')
        throw mistyped(path, setting, 'true or false', String(current));
      return text === 'true';
    }
    default:
      return convertBranch(path, current, setting);
  }
}

function convertBranch(path: string, current: unknown, setting: Setting): unknown {
  const example = JSON.stringify(current);
  try {
    const value: unknown = JSON.parse(String(setting));
    if (typeof value === 'object' && Array.isArray(value) === Array.isArray(current)) return value;
  } catch {}
  throw mistyped(path, setting, `JSON of ${Array.isArray(current) ? 'a list' : 'an object'}`, example);
}

function mistyped(path: string, setting: Setting, wanted: string, example: string): Failure {
  return new Failure(
    'config_invalid',
    `${path}: ${JSON.stringify(setting)} is not ${wanted}`,
    `For example ${path}=${example}`,
  );
}
