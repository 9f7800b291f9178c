import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig, RunSource } from '../contract/contract.ts';
import { findPreset } from '../presets/presets.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { hasOptimizer } from '../run-directory/checkpoints.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { originOf } from './create-run.ts';
import type { Runs } from './runs.ts';

/** Returns the initial configuration of a form. Throws as `createRun` does for an invalid source. */
export function loadConfig(
  { home, runs }: { home: string; runs: Pick<Runs, 'get'> },
  source: RunSource,
): LoadedConfig {
  const config = { ...originOf(home, source).config };
  if ('preset' in source)
    return { config, title: titleOfPreset(source.preset), notes: [], optimizerKept: null };
  if ('config' in source)
    return {
      config,
      title: 'an imported configuration',
      notes: upgradeConfig(source.config).notes,
      optimizerKept: null,
    };
  const folder = runFolder(home, source.run);
  const { name } = runs.get(source.run);
  const { notes } = upgradeConfig(JSON.parse(readFileSync(join(folder, runFiles.config), 'utf8')));
  if (source.checkpoint === undefined) return { config, title: name, notes, optimizerKept: null };
  return {
    config,
    title: `${name}, iteration ${source.checkpoint}`,
    notes,
    optimizerKept: hasOptimizer(folder, source.checkpoint),
  };
}

function titleOfPreset(name: string): string {
  const { title, model, algorithm } = findPreset(name);
  return `${title}${model ? `, ${model.title}` : ''}, ${algorithm}`;
}
