import { type AddedEnvironment, readAdded } from '../environments/added.ts';
import { processEnvironment } from '../environments/process.ts';
import type { Prompt } from '../environments/prompt.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import { algorithms, starpoVariants } from './algorithms.ts';
import { baseConfig, describe, ownPresetName, type Preset } from './base.ts';

/** Presets of environments that the user has added. */

/** Returns an added environment as an element of run.json. */
export function environmentOfAdded(
  { id, command, directory, rules }: AddedEnvironment,
  prompt: Prompt = processEnvironment.preset.prompt,
): EnvironmentConfig {
  const { preset } = processEnvironment;
  return { ...preset, ...rules, label: id, config: { ...preset.config, command, directory }, prompt };
}

/** Returns the presets of a data folder's added environments, one per algorithm; none if the list of environments is unreadable. */
export function ownPresets(home: string): Preset[] {
  let added: AddedEnvironment[];
  try {
    added = readAdded(home);
  } catch {
    return []; // The Environments page reports the file.
  }
  return added.filter(({ preset }) => preset).flatMap(presetsOf);
}

function presetsOf(added: AddedEnvironment): Preset[] {
  const { name: title, command, rules } = added;
  const all = rules.max_turns > 1 ? algorithms : starpoVariants;
  return all.map((algorithm) => {
    const id = `${ownPresetName(added)}-${algorithm.suffix}`;
    const config = { ...baseConfig, preset: id, environments: [environmentOfAdded(added)] };
    return {
      ...describe({ title, summary: `Your program: ${command}` }, algorithm, ownPresetName(added)),
      ...{ id, expects: 'not measured yet', model: null, deviceBytes: null },
      config: { ...config, ...algorithm.changes(config) },
    };
  });
}
