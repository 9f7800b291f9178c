import { createHash } from 'node:crypto';
import { withoutFileNames } from './environment-files.ts';
import type { EnvironmentConfig, RunConfig } from './run-config.ts';
import { validateConfig } from './validate.ts';

/** The levels of an evaluation. Equal panels give the same levels in the same order, with the same random outcomes. */
export interface Panel {
  version: 1;
  /** With a digest of its files, the configuration lacks their names, so that the same files have the same panel in every folder. */
  environment: Pick<PanelEnvironment, 'type' | 'config' | 'noise' | 'files_sha256'>;
  /** Level i has the seed `first_seed + i`. */
  first_seed: number;
  levels: number;
}

export interface LabeledPanel {
  label: string;
  hash: string;
  panel: Panel;
}

/** The parts of an environment that its levels depend on, and its label. */
export type PanelEnvironment = Pick<EnvironmentConfig, 'label' | 'type' | 'config'> & {
  noise?: EnvironmentConfig['noise'] | undefined;
  files_sha256?: string | undefined;
};

/** Returns the panel of an environment, with its label and hash. */
export function panelOf(
  { label, type, config, noise, files_sha256: files }: PanelEnvironment,
  { seed, levels }: { seed: number; levels: number },
): LabeledPanel {
  const environment = {
    type,
    config: files ? withoutFileNames({ type, config }) : config,
    ...(noise && { noise }),
    ...(files && { files_sha256: files }),
  };
  const panel: Panel = { version: 1, environment, first_seed: seed, levels };
  return { label, hash: createHash('sha256').update(canonical(panel)).digest('hex'), panel };
}

/** Returns the panels of a run's own evaluations. */
export const panelsOf = ({ environments, evaluation, levels }: RunConfig): LabeledPanel[] =>
  environments
    .filter(({ validate }) => validate)
    .map((each) => panelOf(each, { seed: levels.validation_seed, levels: evaluation.levels }));

/** Returns the labels and hashes of the panels of a run's own evaluations; none if run.json is that of an imported run or a newer version. */
export function readPanels(config: unknown): { label: string; hash: string }[] {
  try {
    return panelsOf(validateConfig(config)).map(({ label, hash }) => ({ label, hash }));
  } catch {
    return [];
  }
}

/** Returns compact JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}
