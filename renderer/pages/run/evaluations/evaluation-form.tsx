import { type FormEvent, useEffect, useState } from 'react';
import type { EvaluationChoices, RunSummary } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { Icon } from '../../../components/icon.tsx';
import { environmentTitle } from '../../../environments/registry.ts';
import { useApp } from '../../../stores/app-store.ts';
import { readSettings } from './read-settings.ts';

/** Starts an evaluation. `active`: true while one is running; a run has only one at a time. */
export function EvaluationForm({ run, active }: { run: RunSummary; active: boolean }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const choices = useChoices(run);
  const [starting, setStarting] = useState(false);
  const [on, setOn] = useState<string | null>(null);
  const environment = choices?.environments.find((each) => each.on === on) ?? choices?.environments[0];

  if (!choices || !environment) return null;
  if (choices.checkpoints.length === 0)
    return <p className="evaluation-form faint wrap">This run has no checkpoint to evaluate.</p>;

  async function start(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    setStarting(true);
    try {
      await api.call('evaluations.start', {
        runId: run.id,
        checkpoint: Number(text('checkpoint')),
        on: environment!.on,
        set: readSettings(text('set')),
        levels: Number(text('levels')),
        temperature: Number(text('temperature')),
        seed: Number(text('seed')),
      });
    } catch (cause) {
      report(cause);
    } finally {
      setStarting(false);
    }
  }

  return (
    <form className="evaluation-form wrap" aria-label="New evaluation" onSubmit={start}>
      <label>
        <span>Environment</span>
        <select value={environment.on} onChange={({ target }) => setOn(target.value)}>
          {choices.environments.map(({ on, own }) => (
            <option key={on} value={on}>
              {own ? environmentTitle(on) : `${environmentTitle(on)} (not trained on)`}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Checkpoint</span>
        <select name="checkpoint">
          {choices.checkpoints.map((iteration) => (
            <option key={iteration} value={iteration}>
              {iteration}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Levels</span>
        <input name="levels" type="number" min={1} max={65536} required defaultValue={choices.levels} />
      </label>
      <label>
        <span>First seed</span>
        <input name="seed" type="number" min={0} max={4294967295} required defaultValue={choices.seed} />
      </label>
      <label>
        <span>Temperature</span>
        <input
          name="temperature"
          type="number"
          min={0.01}
          max={10}
          step="any"
          required
          defaultValue={choices.temperature}
        />
      </label>
      <label className="evaluation-set">
        <span>Other settings (name=value, comma-separated)</span>
        <input
          name="set"
          key={environment.on}
          placeholder={examples(environment.config)}
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button" data-kind="primary" disabled={active || starting}>
        <Icon name="play" size={14} />
        {starting ? 'Loading…' : 'Evaluate'}
      </button>
    </form>
  );
}

/** Returns some of the environment's settings, as an example of the syntax. */
const examples = (config: EvaluationChoices['environments'][number]['config']) =>
  Object.entries(config)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, 3)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** Returns the checkpoints and environments to choose from. Reloads after every iteration, because checkpoints change. */
function useChoices({ id: runId, iteration, status }: RunSummary): EvaluationChoices | null {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [choices, setChoices] = useState<EvaluationChoices | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new iteration or status may change the choices
  useEffect(() => {
    if (connection !== 'open') return;
    let active = true;
    // Runs with an invalid or newer configuration can't be evaluated; the page reports that elsewhere.
    api
      .call('evaluations.choices', { runId })
      .then((result) => active && setChoices(result))
      .catch(() => {});
    return () => {
      active = false;
    };
  }, [api, connection, runId, iteration, status]);
  return choices;
}
