import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import type { ApiError, HandGame, OwnEnvironment, Replay } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { actionOfKey } from '../../components/action-keys.ts';
import { ActionField, ActionPad } from '../../components/action-pad.tsx';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { signed } from '../../components/format.ts';
import { Section } from '../../components/section.tsx';
import { describeFrame } from '../../environments/describe.ts';
import { arrived } from '../../environments/motion.ts';
import { environmentOf } from '../../environments/registry.ts';
import styles from './environments.module.css';

const firstSeed = 10_000;

/** Plays episodes of an environment by hand: one button per action, or free text. */
export function HandPlayPanel({ environment }: { environment: OwnEnvironment }) {
  const { game, problem, busy, play, act } = useHandPlay(environment.id);
  const [seed, setSeed] = useState(String(firstSeed));
  const seedValid = /^\d{1,9}$/.test(seed);
  const over = game?.done ?? false;
  const onKeyDown = (event: KeyboardEvent) => {
    const isField = event.target instanceof HTMLElement && event.target.tagName === 'INPUT';
    if (event.ctrlKey || event.metaKey || event.altKey || isField || !game?.actions || over) return;
    const action = actionOfKey(event.key, game.actions);
    if (action === null) return;
    event.preventDefault();
    act(action);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are shortcuts of the buttons inside.
    <div onKeyDown={onKeyDown}>
      <Section
        title="Play by hand"
        action={
          <form
            className="row"
            onSubmit={(event) => {
              event.preventDefault();
              if (seedValid) play(Number(seed));
            }}
          >
            <label className="choice">
              Seed
              <input
                className={styles.seed}
                inputMode="numeric"
                value={seed}
                aria-invalid={!seedValid}
                onChange={({ target }) => setSeed(target.value)}
              />
            </label>
            <button type="submit" className="button" disabled={busy || !seedValid}>
              {game ? 'Restart' : 'Start'}
            </button>
          </form>
        }
      >
        {problem && <ErrorNote error={problem} />}
        {game ? (
          <div className={styles.hand}>
            <HandBoard game={game} environment={environment} />
            {game.actions ? (
              <ActionPad actions={game.actions} disabled={over} onAction={act} />
            ) : (
              <ActionField disabled={over} onAction={act} />
            )}
            {over && (
              <Button
                icon="next"
                kind="primary"
                onClick={() => {
                  setSeed(String(game.seed + 1));
                  play(game.seed + 1);
                }}
              >
                Next level
              </Button>
            )}
          </div>
        ) : (
          !problem && (
            <p className="muted">
              {busy ? 'Starting the program…' : 'Starts the program and plays the level of a seed.'}
            </p>
          )
        )}
      </Section>
    </div>
  );
}

function HandBoard({ game, environment }: { game: HandGame; environment: OwnEnvironment }) {
  const replay = replayOf(environment, game);
  const index = game.frames.length - 1;
  const frame = game.frames[index]!;
  const { Board, describe } = environmentOf(replay.type);
  const status = statusOf(replay, index);
  return (
    <>
      <div className={styles.board}>
        <Board replay={replay} index={index} motion={arrived} label={`Board. ${describe(replay, index)}`} />
      </div>
      <p
        className={styles.status}
        data-tone={game.done ? (game.success ? 'good' : 'bad') : undefined}
        aria-live="polite"
      >
        {status}
        <span className="faint"> · reward so far {signed(frame.total)}</span>
      </p>
      {game.observation !== frame.board && (
        <details className={styles.observation}>
          <summary>Text that a model reads</summary>
          <pre>{game.observation}</pre>
        </details>
      )}
    </>
  );
}

function statusOf(replay: Replay, index: number): string {
  const frame = replay.frames[index]!;
  if (index === 0) return 'Your turn';
  const happened = `${frame.action}, reward ${signed(frame.reward)}`;
  if (!frame.done)
    return frame.effective ? happened : `${happened}, ${describeFrame(replay, index).split(', ').at(-1)}`;
  return `${happened}. The episode ${frame.success ? 'succeeded' : 'ended without success'}.`;
}

/** Returns the episode so far in the form that boards are drawn from. */
function replayOf({ id }: OwnEnvironment, { seed, frames, success, done }: HandGame): Replay {
  return {
    summary: {
      ...{ id: '', iteration: 0, split: '', environment: id, group: 0, member: 0, seed, success },
      ...{ reward: frames.at(-1)!.total, ended: done ? 'done' : '', turns: frames.length - 1 },
      ...{ actions: frames.length - 1, tokens: 0, kept: true, format_valid: true },
    },
    ...{ type: 'process', config: {}, arms: null, prompt: '', frames, turns: [] },
  };
}

/** Plays one episode at a time. It ends when the page is left. */
function useHandPlay(id: string) {
  const api = useApi();
  const [game, setGame] = useState<HandGame | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const open = useRef<string | null>(null);
  /** Requests are sent one by one, because an action depends on the state before it. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const perform = useCallback((work: () => Promise<HandGame>) => {
    setBusy(true);
    setProblem(null);
    const done = last.current.then(work).then(
      (next) => {
        open.current = next.id;
        setGame(next);
      },
      // An action after the end, from a key pressed twice, has no effect.
      (cause) => asFailure(cause).code !== 'move_invalid' && setProblem(asFailure(cause).toApiError()),
    );
    last.current = done;
    void done.then(() => last.current === done && setBusy(false));
  }, []);
  useEffect(
    () => () => {
      if (open.current) api.call('environments.leave', { gameId: open.current }).catch(() => {});
    },
    [api],
  );
  return {
    ...{ game, problem, busy },
    play: (seed: number) => perform(() => api.call('environments.play', { id, seed })),
    act: (action: string) => perform(() => api.call('environments.act', { gameId: open.current ?? '', action })),
  };
}
