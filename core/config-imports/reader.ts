import { Failure } from '../contract/failure.ts';
import { locate, type Tree } from '../run-config/tree.ts';
import { isTree } from './parse-config.ts';

/** Maximum references of one setting. Nested references can double at each level. */
const maxReferences = 1000;

/** Reads settings of a composed configuration by path, checks their types and records which ones were read. */
export class Reader {
  readonly tree: Tree;
  private readonly read = new Set<string>();
  /** Number of references that the current setting has resolved. */
  private references = 0;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  /** Returns a setting with its interpolations resolved; undefined if it is absent or null. Throws `config_invalid`. */
  value(path: string): unknown {
    this.read.add(path);
    this.references = 0;
    return this.resolve(path, this.raw(path), []) ?? undefined;
  }

  has(path: string): boolean {
    return this.raw(path) !== undefined && this.raw(path) !== null;
  }

  number(path: string, minimum = -Infinity, maximum = Infinity): number | undefined {
    const value = this.value(path);
    // PyYAML reads 1e-6, without a point, as text.
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (value === undefined) return undefined;
    if (typeof number !== 'number' || !Number.isFinite(number)) throw invalid(path, value, 'a number');
    if (number >= minimum && number <= maximum) return number;
    throw invalid(path, number, maximum === Infinity ? `${minimum} or more` : `between ${minimum} and ${maximum}`);
  }

  integer(path: string, minimum = -Infinity): number | undefined {
    const number = this.number(path, minimum);
    if (number === undefined || Number.isInteger(number)) return number;
    throw invalid(path, number, 'a whole number');
  }

  /** Returns a list of two numbers. Throws `config_invalid` for other values. */
  pair(path: string): [number, number] | undefined {
    const value = this.list(path);
    const isPair = value?.length === 2 && value.every(Number.isFinite);
    if (value === undefined || isPair) return value as [number, number] | undefined;
    throw invalid(path, value, 'a list of two numbers');
  }

  flag(path: string): boolean | undefined {
    const value = this.value(path);
    if (value === undefined || typeof value === 'boolean') return value;
    // YAML 1.1, which Python's parsers implement, also reads these words as booleans.
    if (typeof value === 'string' && /^(yes|on|true)$/i.test(value)) return true;
    if (typeof value === 'string' && /^(no|off|false)$/i.test(value)) return false;
    throw invalid(path, value, 'true or false');
  }

  text(path: string): string | undefined {
    const value = this.value(path);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw invalid(path, value, 'text');
  }

  list(path: string): unknown[] | undefined {
    const value = this.value(path);
    if (value === undefined || Array.isArray(value)) return value;
    throw invalid(path, value, 'a list');
  }

  /** Returns the keys of an object; none if it is absent or null. */
  keys(path: string): string[] {
    const value = this.raw(path);
    if (value === undefined || value === null) return [];
    if (isTree(value)) return Object.keys(value);
    throw invalid(path, value, 'an object');
  }

  /** Marks a setting as read, with everything below it. */
  skip(path: string): void {
    this.read.add(path);
  }

  /** Returns the paths of all settings that were not read and are not null. */
  unread(): string[] {
    const visit = (value: unknown, path: string): string[] => {
      if (this.read.has(path) || value === null) return [];
      if (!isTree(value)) return [path];
      return Object.entries(value).flatMap(([key, inner]) => visit(inner, path === '' ? key : `${path}.${key}`));
    };
    return visit(this.tree, '');
  }

  private raw(path: string): unknown {
    const found = locate(this.tree, path);
    return found ? found.parent[found.key] : undefined;
  }

  /** Resolves `${a.b}`, alone or inside a string. */
  private resolve(path: string, value: unknown, by: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((each) => this.resolve(path, each, by));
    if (typeof value !== 'string' || !value.includes('${')) return value;
    const target = (reference: string): unknown => {
      const unresolved = (why: string, otherwise = '') =>
        new Failure(
          'config_invalid',
          `${path} refers to \${${reference}}, which ${why}.`,
          `Set it with ${path}=VALUE${otherwise}.`,
        );
      if (!/^[\w-]+(\.[\w-]+)*$/.test(reference)) throw unresolved('is not the path of a setting');
      if (by.includes(reference)) throw unresolved('refers to itself');
      const found = this.raw(reference);
      if (found === undefined) throw unresolved('does not exist', `, or add the file that defines ${reference}`);
      if (++this.references > maxReferences) throw unresolved(`is one of more than ${maxReferences} references`);
      this.read.add(reference);
      return this.resolve(path, found, [...by, reference]);
    };
    const [, whole] = /^\$\{([^{}]+)\}$/.exec(value) ?? [];
    if (whole !== undefined) return target(whole);
    return value.replace(/\$\{([^{}]+)\}/g, (_, reference: string) => String(target(reference)));
  }
}

/** Returns a value as JSON, cut to 80 characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

const invalid = (path: string, value: unknown, expected: string) =>
  new Failure(
    'config_invalid',
    `${path} must be ${expected}, not ${shown(value)}.`,
    `Correct the file, or override the setting with ${path}=VALUE.`,
  );
