import { useId, useState } from 'react';
import type { ModelCard, PresetCard, SystemInfo } from '../../../core/contract/contract.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { number } from '../../components/format.ts';
import { useApp } from '../../stores/app-store.ts';
import { groupPresets } from './preset-groups.ts';
import { TaskCard } from './task-card.tsx';
import { type ChosenModel, useModel } from './use-model.ts';

type Card = PresetCard & { model: ModelCard };

/** The presets that begin from a published model, which the person has to bring, and need a GPU. `cards`: at least one. */
export function ModelSection({ cards, blocked }: { cards: readonly Card[]; blocked: boolean }) {
  const system = useApp((state) => state.system);
  const models = [...new Map(cards.map(({ model }) => [model.name, model])).values()];
  const [name, choose] = useState(models[0]!.name);
  const chosen = models.find((model) => model.name === name) ?? models[0]!;
  const model = useModel(chosen.name);
  const gpu = system?.devices.find(({ id, available }) => id.startsWith('cuda') && available) ?? null;
  const ready = gpu !== null && model.state?.problem === null;
  const tasks = groupPresets(cards.filter((card) => card.model.name === chosen.name)).flatMap(
    (group) => group.tasks,
  );
  return (
    <section aria-labelledby="published-models" className="model-section">
      <div className="section-head">
        <h2 id="published-models">Qwen2.5 on a GPU</h2>
        <p className="muted">
          The RAGEN paper’s own experiments: 8 levels of 16 episodes an iteration, replies of up to 400
          tokens.
        </p>
      </div>
      {system && !gpu && <NoGpu system={system} />}
      <div className="panel model-bar">
        <ModelChoice models={models} chosen={chosen} choose={choose} />
        <ModelFolder card={chosen} model={model} />
      </div>
      <div className="preset-grid">
        {tasks.map((presets) => (
          <TaskCard
            key={presets[0].task}
            presets={presets}
            blocked={blocked || !ready}
            set={model.folder === '' ? {} : { 'start.model': model.folder }}
            deviceMemory={gpu?.memory_bytes ?? null}
          />
        ))}
      </div>
    </section>
  );
}

function NoGpu({ system }: { system: SystemInfo }) {
  const gpus = system.devices.filter(({ id }) => id.startsWith('cuda'));
  const reasons = gpus.map(({ name, reason }) => `${name}: ${reason ?? 'not available'}`).join('; ');
  return (
    <ErrorNote
      kind="warning"
      error={{
        code: 'device_unavailable',
        message: `These can’t start here: ${reasons || 'the trainer finds no GPU'}.`,
        hint: 'They can be looked at all the same, and made with `starpo new` for a machine that has one.',
      }}
    />
  );
}

function ModelChoice({
  models,
  chosen,
  choose,
}: {
  models: ModelCard[];
  chosen: ModelCard;
  choose: (name: string) => void;
}) {
  return (
    <fieldset className="segments" aria-label="Model">
      {models.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={name === chosen.name} onClick={() => choose(name)}>
          {title.replace('Qwen2.5 ', '')}
        </button>
      ))}
    </fieldset>
  );
}

function ModelFolder({ card, model }: { card: ModelCard; model: ChosenModel }) {
  const id = useId();
  const { state } = model;
  return (
    <>
      <label htmlFor={id}>Model folder</label>
      <input
        id={id}
        className="text-field"
        key={`${card.name} ${model.folder}`}
        defaultValue={model.folder}
        placeholder={state?.folder ?? `of ${card.name}`}
        spellCheck={false}
        onBlur={({ target }) => model.setFolder(target.value.trim())}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
        aria-describedby={`${id}-state`}
      />
      <Button kind="quiet" icon="reset" onClick={model.lookAgain} label="Look at the model folder again">
        Look again
      </Button>
      <div id={`${id}-state`} className="model-state" role="status">
        {state === null && <p className="faint">Looking at {card.name}…</p>}
        {state?.problem === null && (
          <p>
            <span className="status-dot" data-status="running" aria-hidden="true" /> {card.name},{' '}
            {number(state.parameters ?? 0)} parameters · {card.licence}
          </p>
        )}
        {state?.problem && (
          <>
            <p>
              <span className="status-dot" data-status="paused" aria-hidden="true" /> {state.problem.message}{' '}
              <code className="faint">{state.problem.code}</code>
            </p>
            {state.problem.code === 'model_missing' ? (
              <p className="muted">
                Download it ({card.licence}) with <code>{state.download}</code>
              </p>
            ) : (
              <p className="muted">{state.problem.hint}</p>
            )}
          </>
        )}
      </div>
    </>
  );
}
