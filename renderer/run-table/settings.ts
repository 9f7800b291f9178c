import { useEffect, useMemo, useRef, useState } from 'react';
import { type RunSetting, type RunSettings, sampleRunId } from '../../core/contract/contract.ts';
import { leavesOf } from '../../core/contract/run-details.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';

/** The values of one configuration by path, such as `optimizer.learning_rate`. */
export type Settings = ReadonlyMap<string, RunSetting>;

export const noSettings: Settings = new Map();

/** The settings of all runs, by run. */
export type SettingsByRun = ReadonlyMap<string, Settings>;

/** Returns the settings of all runs; null while loading. Loads those of new runs only, because settings never change. */
export function useSettings(): SettingsByRun | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const ids = useApp((state) => state.runs?.map(({ id }) => id).join(' ') ?? null);
  const [known, setKnown] = useState<SettingsByRun | null>(null);
  const requested = useRef(new Set<string>());
  const listed = useMemo(() => ids?.split(' ').filter((id) => id !== '') ?? null, [ids]);
  useEffect(() => {
    if (!open || !listed) return;
    // Another run may get the name of a removed one.
    const present = new Set(listed);
    for (const id of requested.current) if (!present.has(id)) requested.current.delete(id);
    const missing = listed.filter((id) => !requested.current.has(id));
    if (missing.length === 0) return;
    const requestAgain = (ids: readonly string[]) => {
      for (const id of ids) requested.current.delete(id);
    };
    for (const id of missing) requested.current.add(id);
    api.call('runs.settings', { runIds: missing }).then(
      (answer) => {
        const added = byRun(answer);
        requestAgain(missing.filter((id) => !added.has(id)));
        setKnown((before) => new Map([...(before ?? []), ...added]));
      },
      (cause) => {
        requestAgain(missing);
        if (!isConnectionLost(cause)) useApp.getState().report(cause);
      },
    );
  }, [api, open, listed]);
  return useMemo(() => {
    if (!listed || (!known && listed.length > 0)) return null;
    return new Map(listed.flatMap((id) => (known?.has(id) ? [[id, known.get(id)!]] : [])));
  }, [known, listed]);
}

function byRun({ runIds, settings }: RunSettings): SettingsByRun {
  return new Map(
    runIds.map((runId, index) => [
      runId,
      new Map(
        settings.flatMap(({ path, values }): [string, RunSetting][] => {
          const value = values[index]!;
          return value === null ? [] : [[path, value]];
        }),
      ),
    ]),
  );
}

/** Adds the settings of the sample run, which isn't listed, if there is one. */
export function useSettingsWithSample(hasSample: boolean): SettingsByRun | null {
  const settings = useSettings();
  const sampleConfig = useQuery('runs.get', hasSample ? { runId: sampleRunId } : null, 0).value?.config;
  return useMemo(
    () => settings && (sampleConfig ? new Map(settings).set(sampleRunId, leavesOf(sampleConfig)) : settings),
    [settings, sampleConfig],
  );
}

/**
 * The paths of configurations, and whether their values differ. Reads each configuration once, because a thousand runs may be listed while
 * more are added several times a second.
 */
export class PathIndex {
  private read = new Set<Settings>();
  private readonly paths = new Map<string, { value: RunSetting; count: number; differs: boolean }>();

  /** Adds new configurations; starts again if earlier ones are missing. */
  update(configs: ReadonlySet<Settings>): this {
    if ([...this.read].some((config) => !configs.has(config))) {
      this.read = new Set();
      this.paths.clear();
    }
    for (const config of configs) if (!this.read.has(config)) this.add(config);
    return this;
  }

  private add(config: Settings): void {
    this.read.add(config);
    for (const [path, value] of config) {
      const first = this.paths.get(path);
      if (!first) this.paths.set(path, { value, count: 1, differs: false });
      else {
        first.count += 1;
        first.differs ||= value !== first.value && settingText(value) !== settingText(first.value);
      }
    }
  }

  /** In order of appearance. */
  get all(): string[] {
    return [...this.paths.keys()];
  }

  /** Those whose values differ or that some configurations lack. */
  get differing(): string[] {
    return [...this.paths].filter(([, { differs, count }]) => differs || count < this.read.size).map(([path]) => path);
  }
}

export const settingText = (value: RunSetting): string =>
  value === '' ? '(empty)' : typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
