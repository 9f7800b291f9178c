import { Failure } from '../contract/failure.ts';
import { locate, type Tree } from './tree.ts';
import { unknownKey } from './validate.ts';

export type Setting = string | number | boolean;

/** Parses `key=value` arguments. Throws `config_invalid` if one has no `=`. */
export function parseSettings(texts: readonly string[]): Record<string, Setting> {
  const settings: Record<string, Setting> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) {
      throw new Failure('config_invalid', `"${text}" is not of the form key=value.`, 'Write --set KEY=VALUE.');
    }
    settings[text.slice(0, at)] = text.slice(at + 1);
  }
  return settings;
}

/**
 * Returns a copy of a configuration with the given settings. Text is parsed as the type of the value it replaces. Ranges are checked later, by
 * {@link validateConfig}.
 */
export function applySettings<T extends object>(config: T, settings: Record<string, Setting>): T {
  const copy = structuredClone(config);
  for (const [path, setting] of Object.entries(settings)) {
    const found = locate(copy as Tree, path);
    if (!found) throw unknownKey(path, config as Tree);
    found.parent[found.key] = convert(path, found.parent[found.key], setting);
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
      if (text !== 'true' && text !== 'false') throw mistyped(path, setting, 'true or false', String(current));
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
  throw mistyped(path, setting, Array.isArray(current) ? 'a JSON list' : 'a JSON object', example);
}

function mistyped(path: string, setting: Setting, expected: string, example: string): Failure {
  return new Failure(
    'config_invalid',
    `${path} must be ${expected}, not ${JSON.stringify(setting)}.`,
    `Example: ${path}=${example}`,
  );
}
