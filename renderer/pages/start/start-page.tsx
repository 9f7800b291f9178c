import { useEffect } from 'react';
import { Empty } from '../../components/basics.tsx';
import { useApp } from '../../stores/app-store.ts';
import { ModelSection } from './model-section.tsx';
import { groupPresets, headingOf, isTrap } from './preset-groups.ts';
import { QueuePanel } from './queue-panel.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { TaskCard } from './task-card.tsx';
import { TrainerNotice } from './trainer-notice.tsx';

export function StartPage() {
  const presets = useApp((state) => state.presets);
  const system = useApp((state) => state.system);
  const problem = system?.trainer.problem;
  const own = (presets ?? []).filter(({ model }) => model === null);
  const starters = own.filter((card) => !isTrap(card));
  const traps = own.filter(isTrap);
  const published = (presets ?? []).flatMap(({ model, ...card }) => (model ? [{ ...card, model }] : []));
  useEffect(() => {
    document.title = 'Start · StarPO Studio';
  }, []);
  return (
    <div className="page">
      <header className="page-head">
        <h1>Start a run</h1>
        <p className="muted">
          Train a small language-model agent by multi-turn reinforcement learning and watch it learn.
        </p>
      </header>
      <TrainerNotice trainer={system?.trainer} />
      {presets === null && <Empty title="Loading presets…" />}
      {presets?.length === 0 && (
        <Empty title="No presets">The installation has none. Run the set-up again.</Empty>
      )}
      <div className="preset-groups">
        {groupPresets(starters).map(({ environment, tasks }) => (
          <section key={environment} aria-labelledby={`group-${environment}`}>
            <div className="section-head">
              <h2 id={`group-${environment}`}>{headingOf(environment).title}</h2>
              <p className="muted">{headingOf(environment).tagline}</p>
            </div>
            <div className="preset-grid">
              {tasks.map((ofTask) => (
                <TaskCard key={ofTask[0].task} presets={ofTask} blocked={Boolean(problem)} />
              ))}
            </div>
          </section>
        ))}
      </div>
      {traps.length > 0 && (
        <section aria-labelledby="group-traps">
          <div className="section-head">
            <h2 id="group-traps">See the Echo Trap</h2>
            <p className="muted">
              Made to collapse within minutes: watch the signs, be warned before the reward falls, and rescue
              the run.
            </p>
          </div>
          <div className="preset-grid">
            {traps.map((card) => (
              <TaskCard key={card.id} presets={[card]} blocked={Boolean(problem)} />
            ))}
          </div>
        </section>
      )}
      {published.length > 0 && <ModelSection cards={published} blocked={Boolean(problem)} />}
      <QueuePanel />
      <RecentRuns />
      <SystemLine />
    </div>
  );
}

function SystemLine() {
  const system = useApp((state) => state.system);
  if (!system) return null;
  return (
    <footer className="system-line">
      {system.devices.map(({ id, name, available, reason }) => (
        <span key={id}>
          <span className="status-dot" data-status={available ? 'running' : 'stopped'} aria-hidden="true" />{' '}
          {name}
          {!available && `: ${reason ?? 'not available'}`}
        </span>
      ))}
      <span>{system.cores} cores</span>
      {system.trainer.build && <span>Trainer {system.trainer.build}</span>}
      <span>
        Data in <code>{system.dataFolder}</code>
      </span>
      <span>Version {system.version}</span>
    </footer>
  );
}
