import { useId, useState } from 'react';
import type { PresetCard } from '../../../core/api/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { isDeviceTaken } from '../../components/run-facts.ts';
import { navigate } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';
import { Illustration } from './illustration.tsx';
import { defaultOf, type TaskPresets } from './preset-groups.ts';

/** A task with the choice of the algorithm that learns it. `blocked`: nothing can be started now. */
export function TaskCard({ presets, blocked }: { presets: TaskPresets; blocked: boolean }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const taken = useApp(({ runs }) => isDeviceTaken(runs));
  const [chosenId, choose] = useState(() => defaultOf(presets).id);
  const [busy, setBusy] = useState<'start' | 'queue' | null>(null);
  const card = presets.find(({ id }) => id === chosenId) ?? defaultOf(presets);
  const name = card.alias ?? card.id;

  /** Whoever queues wants to queue more, perhaps: the page stays. */
  async function make(how: 'start' | 'queue'): Promise<void> {
    setBusy(how);
    try {
      const queue = how === 'queue';
      const { runId } = await api.call('runs.create', { preset: card.id, start: !queue, queue });
      if (queue) setBusy(null);
      else navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
      setBusy(null);
    }
  }

  return (
    <article className="preset" aria-labelledby={`task-${card.task}`}>
      <div className="preset-picture">
        <Illustration environment={card.environment} slippery={card.task.endsWith('-slippery')} />
      </div>
      <div className="preset-body">
        <div className="preset-title">
          <h3 id={`task-${card.task}`}>{card.title}</h3>
          <code className="faint preset-id" title={name}>
            {name}
          </code>
        </div>
        <p className="preset-summary">{card.summary}</p>
        {presets.length > 1 && <AlgorithmChoice presets={presets} chosen={card} choose={choose} />}
        <div className="preset-methods">
          {presets.map(({ id, baseline, method, expects }) => (
            <div key={id} id={`method-${id}`} data-chosen={id === card.id || undefined}>
              <p className="preset-method">
                {baseline && <span className="badge">Baseline</span>} {method}
              </p>
              <p className="preset-aim">
                <span>Aims at</span> {expects}
              </p>
            </div>
          ))}
        </div>
        <div className="preset-foot">
          <Button
            kind="primary"
            icon="play"
            onClick={() => make('start')}
            disabled={busy !== null || blocked}
            label={`Start ${card.title}, ${card.algorithm}`}
          >
            {busy === 'start' ? 'Starting…' : 'Start'}
          </Button>
          {taken && (
            <Button
              icon="queue"
              onClick={() => make('queue')}
              disabled={busy !== null || blocked}
              label={`Add ${card.title}, ${card.algorithm}, to the queue`}
              title="It starts when the runs before it have ended"
            >
              Add to queue
            </Button>
          )}
          <span className="faint">{card.iterations} iterations</span>
        </div>
      </div>
    </article>
  );
}

interface AlgorithmChoiceProps {
  presets: TaskPresets;
  chosen: PresetCard;
  choose: (id: string) => void;
}

function AlgorithmChoice({ presets, chosen, choose }: AlgorithmChoiceProps) {
  const name = useId();
  return (
    <fieldset className="algorithms">
      <legend className="visually-hidden">Algorithm for {chosen.title}</legend>
      {presets.map(({ id, algorithm, baseline }) => (
        <label key={id} data-baseline={baseline || undefined}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            value={id}
            aria-describedby={`method-${id}`}
            checked={id === chosen.id}
            onChange={() => choose(id)}
          />
          {algorithm}
        </label>
      ))}
    </fieldset>
  );
}
