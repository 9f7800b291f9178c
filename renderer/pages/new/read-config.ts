import type {
  ConfigProblem,
  ImportedConfig,
  LoadedConfig,
  RunSource,
  Settings,
} from '../../../core/contract/contract.ts';
import { isNestedTooDeeply } from '../../../core/contract/nesting.ts';
import { parseJson } from '../../../core/contract/parse-json.ts';
import type { Api } from '../../api/api.ts';
import { type Config, differences } from '../../stores/draft.ts';

/** A configuration imported from files or text. */
export interface Imported {
  source: RunSource;
  config: Config;
  edits: Settings;
  title: string;
  notes: string[];
  /** Notes about the settings of another trainer. */
  conversion?: ImportedConfig['notes'];
}

/** The content of the import dialog: files, or a string. */
export interface ImportInput {
  files: readonly { name: string; text: string }[];
  text: string;
  /** Overrides for files of another trainer, one per line. */
  overrides: string;
}

export type Problem = Pick<ConfigProblem, 'message' | 'hint'>;

/** Reads a run.json, or converts the configuration of another trainer. Returns it, or its problems. Throws an error of the server. */
export async function readConfig(api: Api, { files, text, overrides }: ImportInput): Promise<Imported | Problem[]> {
  const own = files.length === 0 ? text : files.length === 1 ? files[0]!.text : null;
  const parsed = own === null ? null : parse(own);
  if (Array.isArray(parsed)) return parsed;
  if (parsed !== null && !isForeign(parsed)) return checked(api, parsed);
  const { config, notes } = await api.call('configs.import', {
    files: files.length > 0 ? [...files] : [{ name: 'The text', text }],
    overrides: overrides.split('\n').flatMap((line) => line.trim() || []),
  });
  const result = await checked(api, config);
  return Array.isArray(result) ? result : { ...result, conversion: notes };
}

/** Returns the object in a JSON text, or its problems; null for another format. */
function parse(text: string): Config | Problem[] | null {
  let config: unknown;
  try {
    config = parseJson(text);
  } catch (error) {
    if (!text.trimStart().startsWith('{')) return null;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ message: `Not valid JSON: ${reason}.`, hint: '' }];
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config) || isNestedTooDeeply(config))
    return [{ message: 'Not a valid configuration.', hint: 'A run.json file contains a JSON object: { … }.' }];
  return config as Config;
}

/** Returns whether an object has settings of TRL, whose names do not occur in run.json. */
const isForeign = (config: Config) =>
  !Object.hasOwn(config, 'version') && Object.keys(config).some((key) => trlKeys.has(key));

const trlKeys = new Set(['num_generations', 'max_completion_length', 'scale_rewards', 'num_iterations', 'loss_type']);

async function checked(api: Api, config: Config): Promise<Imported | Problem[]> {
  const { problems } = await api.call('configs.check', { config, titles: true });
  // The form shows problems of this machine, such as a model folder of another machine.
  const invalid = problems.filter(({ machine }) => !machine);
  if (invalid.length > 0) return invalid;
  const loaded = await api.call('configs.load', { config });
  return (await asPreset(api, loaded)) ?? { source: { config: loaded.config }, edits: {}, ...loaded };
}

/** Settings that the server sets. They are not edits. */
const serverSettings = ['start.sha256', 'parent.run', 'parent.iteration'];

/** Expresses the configuration as edits of its preset; null if it is a fork or has other settings than the preset. */
async function asPreset(api: Api, loaded: LoadedConfig): Promise<Imported | null> {
  if ((loaded.config.start as { run: string }).run !== '') return null;
  const preset = String(loaded.config.preset);
  const base = await api.call('configs.load', { preset }).catch(() => null);
  const changed = base && differences(base.config, loaded.config);
  if (!changed) return null;
  const edits = Object.fromEntries(Object.entries(changed).filter(([path]) => !serverSettings.includes(path)));
  return {
    source: { preset },
    config: base.config,
    edits,
    title: `${base.title}, with imported changes`,
    notes: loaded.notes,
  };
}
