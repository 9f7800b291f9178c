import { Failure } from '../contract/failure.ts';
import { editDistance, nearest } from '../run-config/nearest.ts';
import { keyPaths, type Tree } from '../run-config/tree.ts';
import { type ConfigText, isTree, parseConfig, parseValue } from './parse-config.ts';
import { verlDefaults } from './verl-defaults.ts';

/** Composes configuration files as Hydra does, as far as RAGEN and verl-agent use it. */

export interface Composed {
  tree: Tree;
  /** Whether verl's own defaults come from {@link verlDefaults} rather than from a file. */
  assumesVerl: boolean;
}

/** Name of verl's configuration in defaults lists. RAGEN's copy is a link into a submodule, so it is often missing. */
const verlName = 'ppo_trainer';

/** Returns whether the text is a symbolic link's target, as some downloads of RAGEN's folder have it. */
export const isLink = (text: string) => /^\S*ppo_trainer\.yaml$/.test(text.trim());

/** Returns a file's name in defaults lists. */
export const stemOf = (name: string) => name.replace(/^.*[\\/]/, '').replace(/\.(ya?ml|json)$/, '');

/** Returns the names of the files that a configuration lists as its defaults. Throws `config_unreadable` for unsupported and repeated entries. */
export function defaultNames(name: string, { defaults = [] }: Tree): string[] {
  const unsupported = (entry: unknown) =>
    new Failure(
      'config_unreadable',
      `${name} has the default ${JSON.stringify(entry)}, which can't be resolved.`,
      'Run `python train.py --config-name NAME --cfg job --resolve > composed.yaml`, and import composed.yaml.',
    );
  if (!Array.isArray(defaults)) throw unsupported(defaults);
  const names = defaults.map((entry): string => {
    if (typeof entry !== 'string' || entry.includes('@') || entry.includes('/')) throw unsupported(entry);
    return entry;
  });
  if (new Set(names).size < names.length)
    throw new Failure('config_unreadable', `${name} lists a default twice.`, 'Remove the second entry.');
  return names;
}

/**
 * Merges files with the files in their defaults lists, then applies overrides. A file that others list as a default is merged where they list
 * it. Throws `config_unreadable` or `config_invalid`.
 */
export function compose(texts: readonly ConfigText[], overrides: readonly string[]): Composed {
  const files = new Map<string, { name: string; tree: Tree }>();
  for (const text of texts) {
    if (isLink(text.text)) continue;
    const key = stemOf(text.name);
    if (files.has(key))
      throw new Failure('config_unreadable', `Two files are named ${key}.`, 'Give only one of them, or rename one.');
    files.set(key, { name: text.name, tree: parseConfig(text) });
  }
  const listed = new Set([...files.values()].flatMap(({ name, tree }) => defaultNames(name, tree)));
  const roots = [...files.keys()].filter((key) => !listed.has(key));
  let assumesVerl = false;
  const loaded = new Map<string, Tree>();

  const load = (key: string, by: readonly string[]): Tree => {
    const file = files.get(key);
    const known = loaded.get(key);
    if (known) return known;
    if (by.includes(key))
      throw new Failure(
        'config_unreadable',
        `The defaults lists form a cycle: ${[...by.slice(by.indexOf(key)), key].join(', ')}.`,
        'Remove one of these entries.',
      );
    if (!file && key === verlName) {
      assumesVerl = true;
      return structuredClone(verlDefaults);
    }
    if (!file)
      throw new Failure(
        'config_unreadable',
        `${files.get(by.at(-1)!)!.name} needs ${key}.yaml, which was not found.`,
        `Add ${key}.yaml to the files. \`starpo import-ragen\` also finds it in their folder.`,
      );
    const { defaults: _, ...own } = file.tree;
    const names = defaultNames(file.name, file.tree);
    // Hydra merges the file after its defaults unless `_self_` names another position.
    const order = names.includes('_self_') ? names : [...names, '_self_'];
    const tree = order.reduce<Tree>((under, name) => {
      return merge(under, name === '_self_' ? own : load(name, [...by, key]));
    }, {});
    loaded.set(key, tree);
    return tree;
  };
  // Files that list each other have no root.
  const start = roots.length > 0 || files.size === 0 ? roots : [...files.keys()];
  // Without files, the overrides are those of a verl command line.
  const initial = files.size === 0 ? load(verlName, []) : {};
  const tree = start.reduce((merged, key) => merge(merged, load(key, [])), initial);
  for (const override of overrides) applyOverride(tree, override, assumesVerl);
  return { tree, assumesVerl };
}

/** Returns a tree with the keys of both; `over` has priority, and its lists replace those of `under`. */
export function merge(under: Tree, over: Tree): Tree {
  const merged: Tree = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(merged, key) ? merged[key] : undefined;
    Object.defineProperty(merged, key, {
      ...{ enumerable: true, configurable: true, writable: true },
      value: isTree(value) ? merge(isTree(before) ? before : {}, value) : value,
    });
  }
  return merged;
}

/** Sections of the files of verl and verl-agent, and of Hydra, that {@link verlDefaults} does not have. */
const sections = new Set(['env', 'reward_model', 'custom_reward_function', 'ray_init', 'global_profiler', 'hydra']);

/**
 * Applies `key=value`, `+key=value`, `++key=value` or `~key`. With `open`, a key of a known section that does not exist is added unless it resembles
 * another.
 */
function applyOverride(tree: Tree, argument: string, open: boolean): void {
  const [, prefix, key, value] = /^(~|\+{0,2})([^=]+?)(?:=(.*))?$/s.exec(argument.trim()) ?? [];
  if (key === undefined || (value === undefined) !== (prefix === '~'))
    throw new Failure(
      'config_invalid',
      `"${argument}" is not of the form key=value, +key=value, ++key=value or ~key.`,
      'Example: es_manager.format_penalty=-0.1',
    );
  const parts = key.split('.');
  const isInSection = parts.length > 0 && (Object.hasOwn(tree, parts[0]!) || sections.has(parts[0]!));
  const isOpen = open && isInSection;
  const last = parts.pop()!;
  let parent = tree;
  for (const part of parts) {
    if (!Object.hasOwn(parent, part) || parent[part] === null) {
      if (prefix === '' && !isOpen) throw unknownOverride(key, prefix, tree);
      Object.defineProperty(parent, part, { value: {}, enumerable: true, configurable: true, writable: true });
    }
    const next = parent[part];
    if (!isTree(next)) throw unknownOverride(key, prefix, tree);
    parent = next;
  }
  const exists = Object.hasOwn(parent, last);
  if (
    !exists &&
    (prefix === '~' || (prefix === '' && (!isOpen || Object.keys(parent).some((each) => isTypo(last, each)))))
  )
    throw unknownOverride(key, prefix, tree);
  if (prefix === '~') delete parent[last];
  else
    Object.defineProperty(parent, last, {
      ...{ enumerable: true, configurable: true, writable: true },
      value: parseValue(argument, value!),
    });
}

const isTypo = (key: string, known: string) => known.length > 3 && editDistance(key, known) <= 2;

function unknownOverride(key: string, prefix: string | undefined, tree: Tree): Failure {
  const proposal = nearest(key, keyPaths(tree));
  const message = `${key} is not a setting of the imported configuration.`;
  if (prefix)
    return new Failure(
      'config_invalid',
      message,
      proposal ? `Did you mean ${prefix}${proposal}?` : 'Correct the path, or remove this argument.',
    );
  return new Failure(
    'config_invalid',
    message,
    proposal ? `Did you mean ${proposal}? To add a setting, write +${key}=VALUE.` : `To add it, write +${key}=VALUE.`,
  );
}
