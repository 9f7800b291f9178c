import { useMemo } from 'react';
import type { ConfigForm, Settings, SettingValue } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { Panel } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { useApp } from '../../stores/app-store.ts';
import { type Config, flatten, isSame, placeSections, valueText } from '../../stores/draft.ts';
import { useQuery } from '../../stores/use-query.ts';
import { useRun } from '../../views/run-view.tsx';
import styles from './config-panel.module.css';

/** Shows how the configuration differs from its preset, then all of it as JSON. */
export function ConfigPanel() {
  const runId = useRun((state) => state.runId);
  const config = useRun((state) => state.config);
  const folder = useRun((state) => state.folder);
  return (
    <Panel open title="Configuration" note={<code>{folder}/run.json</code>}>
      {isConfig(config) && <FormattedConfig runId={runId} config={config} />}
      <ScrollingRegion className="config" aria-label="Configuration as JSON">
        <pre>{JSON.stringify(config, null, 2)}</pre>
      </ScrollingRegion>
    </Panel>
  );
}

/** Returns whether the form can show a configuration. Those of imported runs have a different format. */
function isConfig(config: unknown): config is Config {
  const { environments, rollout } = (config ?? {}) as Config;
  return Array.isArray(environments) && typeof rollout === 'object';
}

function FormattedConfig({ runId, config }: { runId: string; config: Config }) {
  const from = { run: runId, checkpoint: null };
  return (
    <div className={styles.formatted}>
      <Differences config={config} />
      <p className="wrap">
        <a className="button" href={formatRoute({ page: 'new', from })}>
          <Icon name="settings" size={14} /> Duplicate with changes
        </a>
        <a className="button" href={formatRoute({ page: 'new', from, study: true })}>
          <Icon name="vary" size={14} /> Vary in a sweep
        </a>
      </p>
    </div>
  );
}

function Differences({ config }: { config: Config }) {
  const name = String(config.preset);
  const preset = useApp(({ presets }) => presets?.find(({ id }) => id === name));
  const base = useQuery('presets.config', preset ? { preset: name } : null, 0).value?.config;
  const form = useQuery('configs.form', {}, 0).value;
  const rows = useMemo(
    () => (form && base ? changedSettings(form, base as Config, config) : null),
    [form, base, config],
  );
  if (!preset || !rows) return null;
  if (rows.length === 0)
    return (
      <p className="muted">
        No changes from preset {preset.title}, {preset.algorithm}.
      </p>
    );
  return (
    <table className={`table ${styles.table}`}>
      <caption>
        Changes from preset {preset.title}, {preset.algorithm}
      </caption>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Preset</th>
          <th scope="col">This run</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ title, theirs, ours }) => (
          <tr key={title}>
            <th scope="row">{title}</th>
            <td>{theirs}</td>
            <td>{ours}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the form's settings that differ from the preset. Skips the model path, which differs on every machine. */
function changedSettings(form: ConfigForm, base: Config, config: Config) {
  const theirs = flatten(base);
  const ours: Settings = Object.fromEntries(flatten(config));
  const shortText = (value: SettingValue | undefined, choices: Parameters<typeof valueText>[1]) => {
    const text = valueText(value, choices);
    return text.length > 60 ? `${text.slice(0, 59)}…` : text;
  };
  return placeSections(form, config)
    .flatMap((section) => section.fields)
    .filter(({ at }) => at !== 'start.model' && ours[at] !== undefined && !isSame(ours[at], theirs.get(at)))
    .map((field) => ({
      title: field.title,
      theirs: shortText(theirs.get(field.at), field),
      ours: shortText(ours[field.at], field),
    }));
}
