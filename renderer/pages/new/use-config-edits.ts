import { useMemo, useState } from 'react';
import type { RunSource, Settings, SettingValue } from '../../../core/contract/contract.ts';
import { type Config, flatten, type PlacedField, withEdit } from '../../stores/draft.ts';
import { type EnvironmentConfig, joinEdits, splitEdits, withoutEnvironmentEdits } from './environment-list.ts';
import type { Imported } from './read-config.ts';
import { initialValues, type Variation } from './variation.ts';

export interface ConfigEdits {
  /** The base configuration, with the changed list of environments. */
  base: Config;
  /** The settings of `base`, by path. */
  values: ReadonlyMap<string, SettingValue>;
  edits: Settings;
  /** The environments, if they differ from the base configuration. */
  environments: readonly EnvironmentConfig[] | null;
  /** The source and all changes, as the server expects them. */
  source: RunSource;
  set: Settings;
  keepOptimizer: boolean;
  setKeepOptimizer: (keep: boolean) => void;
  /** The values of a sweep; null for a single run. */
  variation: Variation | null;
  setVariation: (variation: Variation | null) => void;
  change: (path: string, value: SettingValue) => void;
  changeEnvironments: (list: readonly EnvironmentConfig[]) => void;
  resetEnvironments: () => void;
  reset: (path: string) => void;
  resetAll: () => void;
  /** Adds a setting to the sweep or removes it. */
  toggleVariation: (field: PlacedField) => void;
}

/** Edits a configuration and the values that a sweep varies. Starts a sweep if `startsAsStudy`. */
export function useConfigEdits(begin: Imported, optimizerKept: boolean | null, startsAsStudy: boolean): ConfigEdits {
  const [initial] = useState(() => splitEdits(begin.edits));
  const [environments, setEnvironments] = useState<readonly EnvironmentConfig[] | null>(initial.list);
  const [edits, setEdits] = useState<Settings>(initial.edits);
  const [keepOptimizer, setKeepOptimizer] = useState(optimizerKept === true);
  const [variation, setVariation] = useState<Variation | null>(startsAsStudy ? {} : null);
  const base = useMemo(
    () => (environments ? { ...begin.config, environments } : begin.config),
    [begin.config, environments],
  );
  const values = useMemo(() => flatten(base), [base]);
  const set = useMemo(() => joinEdits(environments, edits), [environments, edits]);
  const { source } = begin;

  /** Drops the edits of single environments, which the new list already contains. */
  function changeEnvironments(list: readonly EnvironmentConfig[]): void {
    const same = JSON.stringify(list) === JSON.stringify(begin.config.environments);
    setEnvironments(same ? null : list);
    setEdits(withoutEnvironmentEdits);
    setVariation((current) => current && withoutEnvironmentEdits(current));
  }
  return {
    base,
    values,
    edits,
    environments,
    source: 'checkpoint' in source && source.checkpoint !== undefined ? { ...source, keepOptimizer } : source,
    set,
    keepOptimizer,
    setKeepOptimizer,
    variation,
    setVariation,
    change: (path, value) => setEdits((current) => withEdit({ base, edits: current }, path, value)),
    changeEnvironments,
    resetEnvironments: () => changeEnvironments(begin.config.environments as EnvironmentConfig[]),
    reset: (path) => setEdits(({ [path]: _, ...others }) => others),
    resetAll: () => {
      setEnvironments(null);
      setEdits({});
    },
    toggleVariation: (field) =>
      setVariation((current) => {
        const { [field.at]: varied, ...others } = current ?? {};
        return varied
          ? others
          : { ...others, [field.at]: initialValues(field, edits[field.at] ?? values.get(field.at)!) };
      }),
  };
}
