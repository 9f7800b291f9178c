import { useId, useState } from 'react';
import type { PresetCard } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { gigabytes } from '../../components/format.ts';
import { isDeviceTaken } from '../../components/run-facts.ts';
import { navigate } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';
import { Illustration } from './illustration.tsx';
import { defaultOf, isTrap, type TaskPresets } from './preset-groups.ts';
import { type Reaction, ReactionChoice } from './reaction-choice.tsx';
import { buildingText } from './trainer-notice.tsx';

interface TaskCardProps {
  presets: TaskPresets;
  /** Nothing can be started now. */
  blocked: boolean;
  /** Keys of run.json that differ from the preset's. */
  set?: Record<string, string>;
  /** Bytes of the GPU that it would run on; null where there is none, or it isn't known. */
  deviceMemory?: number | null;
}

/** A task with the choice of the algorithm that learns it. */
export function TaskCard({ presets, blocked, set = {}, deviceMemory = null }: TaskCardProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const taken = useApp(({ runs }) => isDeviceTaken(runs));
  const building = useApp(({ system }) => buildingText(system?.trainer));
  const [chosenId, choose] = useState(() => defaultOf(presets).id);
  const [busy, setBusy] = useState<'start' | 'queue' | null>(null);
  const [reaction, setReaction] = useState<Reaction>('notify');
  const card = presets.find(({ id }) => id === chosenId) ?? defaultOf(presets);
  // The task of a preset that is made to collapse has another card.
  const heading = `task-${isTrap(card) ? card.id : card.task}`;
  const name = card.alias ?? card.id;
  const title = card.model ? `${card.title}, ${card.model.title}` : card.title;

  /** Whoever queues wants to queue more, perhaps: the page stays. */
  async function make(how: 'start' | 'queue'): Promise<void> {
    setBusy(how);
    try {
      const queue = how === 'queue';
      const changes = { ...set, ...(reaction === 'notify' ? {} : { reaction }) };
      const { runId } = await api.call('runs.create', {
        preset: card.id,
        set: changes,
        start: !queue,
        queue,
      });
      if (queue) setBusy(null);
      else navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
      setBusy(null);
    }
  }

  return (
    <article className="preset" aria-labelledby={heading}>
      <div className="preset-picture">
        <Illustration environments={card.environments} />
      </div>
      <div className="preset-body">
        <div className="preset-title">
          <h3 id={heading}>
            {card.title}
            {card.model && <span className="visually-hidden">, {card.model.title}</span>}
          </h3>
          {isTrap(card) && <span className="badge">Made to collapse</span>}
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
        <ReactionChoice title={title} value={reaction} choose={setReaction} />
        {card.deviceBytes !== null && <DeviceNeed bytes={card.deviceBytes} available={deviceMemory} />}
        <div className="preset-foot">
          <Button
            kind="primary"
            icon="play"
            onClick={() => make('start')}
            disabled={busy !== null || blocked}
            label={`Start ${title}, ${card.algorithm}`}
          >
            {busy === 'start' ? 'Starting…' : (building ?? 'Start')}
          </Button>
          {taken && (
            <Button
              icon="queue"
              onClick={() => make('queue')}
              disabled={busy !== null || blocked}
              label={`Add to queue: ${title}, ${card.algorithm}`}
              title="It starts when the runs before it have ended"
            >
              Add to queue
            </Button>
          )}
          <span className="faint">{card.iterations} iterations</span>
        </div>
        {card.model && <PresetConfig preset={card.id} />}
      </div>
    </article>
  );
}

/** About what it takes of a GPU's memory, and whether the one here has that. */
function DeviceNeed({ bytes, available }: { bytes: number; available: number | null }) {
  const small = available !== null && available < bytes;
  return (
    <p className="preset-need" data-small={small || undefined}>
      <span>Needs</span> about {Math.ceil(bytes / 1e9)} GB of GPU memory
      {small && `, and the one here has ${gigabytes(available)}`}
    </p>
  );
}

/** run.json as the preset has it, for looking at before there is a run. */
function PresetConfig({ preset }: { preset: string }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [shown, setShown] = useState<{ preset: string; text: string } | null>(null);
  const load = () =>
    api
      .call('presets.config', { preset })
      .then(({ config }) => setShown({ preset, text: JSON.stringify(config, null, 2) }))
      .catch(report);
  const open = shown?.preset === preset;
  return (
    <div className="preset-config">
      <button
        type="button"
        className="link"
        aria-expanded={open}
        onClick={() => (open ? setShown(null) : void load())}
      >
        {open ? 'Hide the configuration' : 'Look at the configuration'}
      </button>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className="config" tabIndex={0} aria-label={`Configuration of ${preset}`}>
          <pre>{shown.text}</pre>
        </section>
      )}
    </div>
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
