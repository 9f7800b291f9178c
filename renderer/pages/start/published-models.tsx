import { useId, useState } from 'react';
import type { PresetCard as Card, ModelCard, Settings, SystemInfo } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import foldHead from '../../components/fold-head.module.css';
import { number } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { groupByTask, presetOf } from '../../components/preset-groups.ts';
import type { StartRun } from '../../components/start-run.tsx';
import { useApp } from '../../stores/app-store.ts';
import { PresetCard } from './preset-card.tsx';
import styles from './published-models.module.css';
import { type ChosenModel, useModel } from './use-model.ts';

type PublishedCard = Card & { model: ModelCard };

interface PublishedModelsProps {
  /** At least one. */
  cards: readonly PublishedCard[];
  algorithm: string | null;
  run: StartRun;
  blocked: boolean;
  set: Settings;
}

/** Presets for published models, which need a download and a GPU. Collapsed if there is no GPU. */
export function PublishedModels({ cards, ...rest }: PublishedModelsProps) {
  const system = useApp((state) => state.system);
  const gpu = system?.devices.find(({ id, available }) => id.startsWith('cuda') && available) ?? null;
  const [collapsed, setCollapsed] = useState<boolean | null>(null);
  const open = collapsed === null ? gpu !== null : !collapsed;
  const models = [...new Map(cards.map(({ model }) => [model.name, model])).values()];
  return (
    <section aria-labelledby="published-models" className={`panel ${styles.section}`}>
      <h2 id="published-models" className={`${foldHead.head} ${styles.head}`}>
        <button type="button" aria-expanded={open} onClick={() => setCollapsed(open)}>
          <Icon name="chevron" size={12} />
          Qwen2.5 on a GPU
          <span className="faint">
            {gpu ? `${models.length} models, experiments from the RAGEN paper` : noGpuText(system)}
          </span>
        </button>
      </h2>
      {open && (
        <Presets {...rest} cards={cards} models={models} gpuMemory={gpu?.memory_bytes ?? null} hasGpu={gpu !== null} />
      )}
    </section>
  );
}

const noGpuText = (system: SystemInfo | null) =>
  `Experiments from the RAGEN paper${system?.trainer.problem === null ? '. No usable GPU.' : ''}`;

interface PresetsProps extends PublishedModelsProps {
  models: readonly ModelCard[];
  hasGpu: boolean;
  gpuMemory: number | null;
}

function Presets({ cards, models, algorithm, run, blocked, set, hasGpu, gpuMemory }: PresetsProps) {
  const system = useApp((state) => state.system);
  const [name, choose] = useState(models[0]!.name);
  const chosen = models.find((model) => model.name === name) ?? models[0]!;
  const model = useModel(chosen.name);
  const ready = hasGpu && model.state?.problem === null;
  const tasks = groupByTask(cards.filter((card) => card.model.name === chosen.name));
  const all = model.folder === '' ? set : { ...set, 'start.model': model.folder };
  return (
    <div className={styles.body}>
      <p className="muted">8 prompts × 16 rollouts per iteration, responses of up to 400 or 500 tokens.</p>
      {system?.trainer.problem === null && !hasGpu && <NoGpu system={system} />}
      <div className={styles.bar}>
        <ModelChoice models={models} chosen={chosen} choose={choose} />
        <ModelFolder card={chosen} model={model} />
      </div>
      <div className={styles.cards}>
        {tasks.map((presets) => (
          <PresetCard
            key={presets[0].family}
            card={presetOf(presets, algorithm)}
            run={run}
            blocked={blocked || !ready}
            set={all}
            deviceMemory={gpuMemory}
          />
        ))}
      </div>
    </div>
  );
}

function NoGpu({ system }: { system: SystemInfo }) {
  const gpus = system.devices.filter(({ id }) => id.startsWith('cuda'));
  const reasons = gpus.map(({ name, reason }) => `${name}: ${reason ?? 'not available'}`).join('; ');
  const problem = system.cuda?.problem;
  return (
    <ErrorNote
      kind="warning"
      error={{
        code: 'device_unavailable',
        message: `These presets need a GPU. ${reasons ? `${reasons}.` : (problem?.message ?? 'The trainer found none.')}`,
        hint: problem?.hint ?? 'You can view them here. Train them on a machine with a supported GPU.',
      }}
    />
  );
}
function ModelChoice({
  models,
  chosen,
  choose,
}: {
  models: readonly ModelCard[];
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
        placeholder={state?.folder ?? `Folder of ${card.name}`}
        spellCheck={false}
        onBlur={({ target }) => model.setFolder(target.value.trim())}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
        aria-describedby={`${id}-state`}
      />
      <Button kind="quiet" icon="reset" onClick={model.recheck} label="Check again: model folder">
        Check again
      </Button>
      <div id={`${id}-state`} className={styles.state} role="status">
        {state === null && <p className="faint">Checking {card.name}…</p>}
        {state?.problem === null && (
          <p>
            <span className="status-dot" data-status="running" aria-hidden="true" /> {card.name}
            {state.parameters !== null && `, ${number(state.parameters)} parameters`} · {card.license}
          </p>
        )}
        {state?.problem && (
          <>
            <p>
              <span className="status-dot" data-status="paused" aria-hidden="true" /> {state.problem.message}
            </p>
            {state.problem.code === 'model_missing' ? (
              <a className="button" href={formatRoute({ page: 'models', repository: card.repository })}>
                <Icon name="down" size={14} />
                Download…
              </a>
            ) : (
              <p className="muted">{state.problem.hint}</p>
            )}
          </>
        )}
      </div>
    </>
  );
}
