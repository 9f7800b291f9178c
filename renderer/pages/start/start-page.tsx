import { useEffect, useState } from 'react';
import type { PresetCard } from '../../../core/api/contract.ts';
import { useApi } from '../../api/context.ts';
import { AlgorithmBadge, Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { isDeviceTaken } from '../../components/run-facts.ts';
import { navigate } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';
import { Illustration } from './illustration.tsx';
import { QueuePanel } from './queue-panel.tsx';
import { RecentRuns } from './recent-runs.tsx';

const environmentNames: Record<string, { title: string; about: string }> = {
  'frozen-lake': { title: 'FrozenLake', about: 'Cross the ice to the star without falling into a hole.' },
  bandit: { title: 'Bandit', about: 'Choose between a safe arm and a risky one by their names alone.' },
  mixed: { title: 'Several environments', about: 'One policy learns more than one environment at once.' },
};

export function StartPage() {
  const presets = useApp((state) => state.presets);
  const system = useApp((state) => state.system);
  const problem = system?.trainer.problem;
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
      {problem && (
        <ErrorNote
          error={{ code: 'trainer_unavailable', message: 'The trainer can’t be started.', hint: problem }}
        />
      )}
      {presets === null && <Empty title="Loading presets…" />}
      {presets?.length === 0 && (
        <Empty title="No presets">The installation has none. Run the set-up again.</Empty>
      )}
      {grouped(presets ?? []).map(([environment, cards]) => (
        <section key={environment} className="preset-group" aria-labelledby={`group-${environment}`}>
          <div className="section-head">
            <h2 id={`group-${environment}`}>{environmentNames[environment]?.title ?? environment}</h2>
            <p className="muted">{environmentNames[environment]?.about}</p>
          </div>
          <div className="preset-grid">
            {cards.map((card) => (
              <Preset key={card.id} card={card} blocked={Boolean(problem)} />
            ))}
          </div>
        </section>
      ))}
      <QueuePanel />
      <RecentRuns />
      <SystemLine />
    </div>
  );
}

function Preset({ card, blocked }: { card: PresetCard; blocked: boolean }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const taken = useApp(({ runs }) => isDeviceTaken(runs));
  const [busy, setBusy] = useState<'start' | 'queue' | null>(null);

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
    <article className="preset" aria-labelledby={`preset-${card.id}`}>
      <div className="preset-picture">
        <Illustration environment={card.environment} slippery={card.id.includes('slippery')} />
      </div>
      <div className="preset-body">
        <div className="preset-title">
          <h3 id={`preset-${card.id}`}>{card.title}</h3>
          <AlgorithmBadge algorithm={card.algorithm} />
        </div>
        <p className="preset-summary">{card.summary}</p>
        <p className="preset-aim">
          <span>Aims at</span> {card.expects}
        </p>
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
          <code className="faint preset-id">{card.alias ?? card.id}</code>
        </div>
      </div>
    </article>
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

function grouped(cards: PresetCard[]): [string, PresetCard[]][] {
  const groups = new Map<string, PresetCard[]>();
  for (const card of cards) groups.set(card.environment, [...(groups.get(card.environment) ?? []), card]);
  return [...groups];
}
