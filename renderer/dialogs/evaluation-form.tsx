import { type FormEvent, useState } from 'react';
import type { EvaluationChoices, RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { truncationFields } from '../components/sampling-fields.ts';
import { environmentTitle } from '../environments/registry.ts';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';
import { readSettings } from './read-settings.ts';

interface EvaluationFormProps {
  /** Id of the form element, for a submit button outside. */
  id: string;
  run: RunSummary;
  /** The checkpoint selected first; null for the newest. */
  checkpoint: number | null;
  onBusy: (busy: boolean) => void;
  onStarted: () => void;
}

/** Edits and starts an evaluation. The server rejects it while another evaluation of the run is in progress. */
export function EvaluationForm({ id, run, checkpoint, onBusy, onStarted }: EvaluationFormProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const choices = useChoices(run);
  const [on, setOn] = useState<string | null>(null);
  const environment = choices?.environments.find((each) => each.on === on) ?? choices?.environments[0];

  if (!choices || !environment) return null;
  if (choices.checkpoints.length === 0) return <p className="faint">This run has no checkpoint to evaluate.</p>;

  async function start(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    onBusy(true);
    try {
      await api.call('evaluations.start', {
        runId: run.id,
        checkpoint: Number(text('checkpoint')),
        on: environment!.on,
        set: readSettings(text('set')),
        levels: Number(text('levels')),
        temperature: Number(text('temperature')),
        topP: Number(text('topP')),
        topK: Number(text('topK')),
        minP: Number(text('minP')),
        seed: Number(text('seed')),
      });
      onStarted();
    } catch (cause) {
      report(cause);
      onBusy(false);
    }
  }

  return (
    <form id={id} className="evaluation-form" aria-label="New evaluation" onSubmit={start}>
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
        <select name="checkpoint" defaultValue={checkpoint ?? undefined}>
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
      <fieldset aria-label="Sampling">
        <label title="Sampling temperature. Higher is more random.">
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
        {truncationFields.map(({ key, label, title, input }) => (
          <label key={key} title={title}>
            <span>{label}</span>
            <input name={key} type="number" {...input} required defaultValue={choices[key]} />
          </label>
        ))}
      </fieldset>
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

/**
 * Returns the checkpoints and environments to choose from. Reloads after every iteration, because checkpoints change. Runs with an invalid or
 * newer configuration can't be evaluated; the page reports that elsewhere.
 */
const useChoices = ({ id: runId, iteration, status }: RunSummary): EvaluationChoices | null =>
  useQuery('evaluations.choices', { runId }, 0, `${iteration} ${status}`).value;
