import { useState } from 'react';
import type { PresetCard as Card, Settings } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { groupByTask, isTrap, presetOf, type TaskPresets } from '../../components/preset-groups.ts';
import { useStartRun } from '../../components/start-run.tsx';
import { buildingText, TrainerNotice } from '../../components/trainer-notice.tsx';
import { useApp } from '../../stores/app-store.ts';
import type { AutomaticAction } from './automatic-action-choice.tsx';
import { FirstSteps, useFirstSteps } from './first-steps.tsx';
import { Hero } from './hero.tsx';
import { PageChoices } from './page-choices.tsx';
import { PresetCard } from './preset-card.tsx';
import { PublishedModels } from './published-models.tsx';
import { RecentRuns } from './recent-runs.tsx';
import styles from './start-page.module.css';
import { usePresets } from './use-presets.ts';

export function StartPage() {
  const presets = usePresets();
  const system = useApp((state) => state.system);
  const first = useFirstSteps();
  useTitle('Start');
  return (
    <div className="page" data-narrow>
      <header className={`${styles.head} wrap`}>
        <div>
          <h1>Start a run</h1>
          <p className="muted">
            Train a small language-model agent with multi-turn reinforcement learning, and watch it learn.
          </p>
        </div>
        <a className="button" href={formatRoute({ page: 'new', from: { preset: null }, importing: true })}>
          <Icon name="import" size={14} /> Import a configuration
        </a>
      </header>
      {first && <FirstSteps hero={heroOf(presets)} />}
      {!(first && system?.trainer.building) && <TrainerNotice trainer={system?.trainer} />}
      {presets === null && <Empty title="Loading presets…" />}
      {presets?.length === 0 && <Empty title="No presets">No presets are installed. Run npm run setup again.</Empty>}
      {presets && presets.length > 0 && <Presets presets={presets} />}
      <SystemLine />
    </div>
  );
}

/** Returns the main preset of the page. */
const heroOf = (presets: readonly Card[] | null) => presets?.find((card) => card.model === null && card.alias !== null);

function Presets({ presets }: { presets: readonly Card[] }) {
  const run = useStartRun();
  const system = useApp((state) => state.system);
  const [algorithm, choose] = useState<string | null>(null);
  const [automaticAction, chooseAutomaticAction] = useState<AutomaticAction>('notify');
  const starterPresets = presets.filter(({ model }) => model === null);
  const traps = starterPresets.filter(isTrap);
  const [first, ...others] = groupByTask(starterPresets.filter((card) => !isTrap(card)));
  const published = presets.flatMap(({ model, ...card }) => (model ? [{ ...card, model }] : []));
  const blocked = Boolean(system?.trainer.problem);
  const set: Settings = automaticAction === 'notify' ? {} : { automatic_action: automaticAction };
  const chosenOf = (presets: TaskPresets) => presetOf(presets, algorithm);
  const shared = { run, blocked, set };
  return (
    <>
      <div className={styles.lead} data-alone={traps.length === 0 || undefined}>
        {first && (
          <Hero
            {...shared}
            key={chosenOf(first).id}
            card={chosenOf(first)}
            published={groupByTask(published)
              .map(chosenOf)
              .filter(({ title }) => title === chosenOf(first).title)}
            building={buildingText(system?.trainer)}
          />
        )}
        {traps.map((card) => (
          <PresetCard key={card.id} {...shared} card={card} />
        ))}
      </div>
      {first && (
        <PageChoices
          algorithms={first}
          chosen={algorithm === null ? null : chosenOf(first)}
          choose={choose}
          automaticAction={automaticAction}
          chooseAutomaticAction={chooseAutomaticAction}
        />
      )}
      <div className={styles.cards}>
        {others.map((presetsOfTask) => (
          <PresetCard key={presetsOfTask[0].family} {...shared} card={chosenOf(presetsOfTask)} />
        ))}
      </div>
      <RecentRuns />
      {published.length > 0 && <PublishedModels {...shared} cards={published} algorithm={algorithm} />}
      {run.dialog}
    </>
  );
}

function SystemLine() {
  const system = useApp((state) => state.system);
  if (!system) return null;
  return (
    <footer className="system-line wrap faint small">
      {system.devices.map(({ id, name, available, reason }) => (
        <span key={id}>
          <span className="status-dot" data-status={available ? 'running' : 'stopped'} aria-hidden="true" /> {name}
          {!available && `: ${reason ?? 'not available'}`}
        </span>
      ))}
      <span>{count(system.cores, 'core')}</span>
      {system.trainer.build && <span>Trainer {system.trainer.build}</span>}
      <span>
        Data in <code>{system.dataFolder}</code>
      </span>
      <span>Version {system.version}</span>
    </footer>
  );
}
