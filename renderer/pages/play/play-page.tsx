import { useLayoutEffect, useState } from 'react';
import type { Game, Sampling } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { actionOfKey } from '../../components/action-keys.ts';
import { Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { hasOwnKeys } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { AgentSide } from './agent-side.tsx';
import styles from './play-page.module.css';
import { ScoreTable } from './score-table.tsx';
import { Settings } from './settings.tsx';
import { type Playing, useGame } from './use-game.ts';
import { YourSide } from './your-side.tsx';

/** Shows the user and a checkpoint's policy playing the same level. */
export function PlayPage({ runId, checkpoint }: { runId: string; checkpoint: number | null }) {
  const [environment, setEnvironment] = useState<string | null>(null);
  const playing = useGame(runId, checkpoint, environment);
  const [changed, setChanged] = useState<Partial<Sampling>>({});
  const { game, choices, problem, loading } = playing;
  const sampling = choices && { ...choices.sampling, ...changed };
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  useTitle(`Play · ${name}`);
  const newest = choices?.checkpoints[0];
  const choose = (iteration: number) => navigate({ page: 'play', runId, checkpoint: iteration }, true);
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Play</h1>
          <p className="muted">
            Can you beat <a href={formatRoute({ page: 'run', runId })}>{run?.name ?? 'this run'}</a>? You play its
            evaluation levels. The agent was not trained on them.
          </p>
        </div>
        {choices && sampling && (
          <Settings
            choices={choices}
            game={game}
            loading={loading}
            sampling={sampling}
            onSampling={(change) => setChanged((before) => ({ ...before, ...change }))}
            onCheckpoint={choose}
            onEnvironment={setEnvironment}
          />
        )}
      </header>
      {problem && (
        <ErrorNote error={problem}>
          {newest !== undefined && !game && newest !== checkpoint && (
            <Button icon="play" onClick={() => choose(newest)}>
              Play the newest checkpoint
            </Button>
          )}
        </ErrorNote>
      )}
      {choices?.checkpoints.length === 0 && (
        <Empty title="This run has no checkpoint">
          <p>
            {run && (run.status === 'created' || run.status === 'queued' || isLive(run.status))
              ? 'The run saves its first checkpoint after the initial evaluation.'
              : 'Its folder contains no checkpoint files. Choose another run.'}
          </p>
        </Empty>
      )}
      {!game && loading && <p className="muted">Loading the policy…</p>}
      {game && sampling && <Table playing={playing} game={game} sampling={sampling} />}
    </div>
  );
}

function Table({ playing, game, sampling }: { playing: Playing; game: Game; sampling: Sampling }) {
  const { act, choices } = playing;
  const start = () => act('play.agent', { sampling });
  // The agent starts with the user's first action.
  const move = (action: string) => act('play.move', { action, sampling });
  const nextLevel = () => act('play.level', { level: game.level + 1 });
  const startOrStop = () => (game.agent.state === 'thinking' ? act('play.stop') : start());
  useKeys(game, { move, restart: () => act('play.restart'), nextLevel, startOrStop });
  const saved = choices?.humanSuccess.find(({ environment }) => environment === game.environment) ?? null;
  return (
    <div className={styles.table}>
      <AgentSide key={game.id} game={game} onStart={start} onStop={() => act('play.stop')} />
      <YourSide
        key={`${game.id} you`}
        game={game}
        onAction={move}
        onRestart={() => act('play.restart')}
        onNext={nextLevel}
      />
      <ScoreTable game={game} saved={saved} onLevel={(level) => act('play.level', { level })} />
    </div>
  );
}

interface Keys {
  move: (action: string) => void;
  restart: () => void;
  nextLevel: () => void;
  startOrStop: () => void;
}

/** Arrows or digits act, R restarts, N opens the next level, P starts or stops the agent. Ignored in form fields and behind dialogs. */
function useKeys(game: Game, { move, restart, nextLevel, startOrStop }: Keys): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && hasOwnKeys(event.target, event.key)) return;
      const action = actionOfKey(event.key, game.actions);
      const key = event.key.toLowerCase();
      if (action !== null) move(action);
      else if (key === 'r') restart();
      else if (key === 'n') nextLevel();
      else if (key === 'p') startOrStop();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
}
