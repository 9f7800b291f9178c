import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiError, Game, PlayChoices } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { type ConnectionState, isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

type Call = Parameters<ReturnType<typeof useApi>['call']>;

export interface Playing {
  choices: PlayChoices | null;
  game: Game | null;
  /** Why the game couldn't be opened. */
  problem: ApiError | null;
  /** Whether a policy is being loaded. */
  loading: boolean;
  /** Calls a method of the game and reports errors. */
  act: (name: ActName, input?: Record<string, unknown>) => void;
}

type ActName = Extract<Call[0], 'play.agent' | 'play.stop' | 'play.move' | 'play.restart' | 'play.level'>;

/** Returns whether to ignore an error, such as that of an action after the end of a level. */
const isIgnored = (cause: unknown) => isConnectionLost(cause) || asFailure(cause).code === 'move_invalid';

/**
 * Opens a game with a checkpoint of a run, the newest by default, and closes it with the page. Reopens it after
 * a reconnection.
 */
export function useGame(runId: string, checkpoint: number | null, environment: string | null): Playing {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [choices, setChoices] = useState<PlayChoices | null>(null);
  const [game, setGame] = useState<Game | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);
  const open = useRef<Game | null>(null);
  const requested = useRef(checkpoint);
  /** Counts retries with another checkpoint after one that couldn't be opened. */
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (requested.current === checkpoint) return;
    requested.current = checkpoint;
    if (!open.current) setAttempt((count) => count + 1);
  }, [checkpoint]);

  const show = useCallback((next: Game) => {
    open.current = next;
    setGame(next);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `attempt` reruns the effect.
  useEffect(() => {
    let active = true;
    let before: ConnectionState | null = null;
    async function openGame(): Promise<void> {
      setLoading(true);
      setProblem(null);
      try {
        const available = await api.call('play.choices', { runId });
        if (!active) return;
        setChoices(available);
        const [newest] = available.checkpoints;
        if (newest === undefined) return;
        const level = open.current?.level;
        const request = { runId, checkpoint: requested.current ?? newest, ...(level && { level }) };
        const opened = await api.call('play.open', { ...request, ...(environment && { environment }) });
        if (active) show(opened);
        else await api.call('play.close', { gameId: opened.id });
      } catch (cause) {
        if (active && !isConnectionLost(cause)) setProblem(asFailure(cause).toApiError());
      } finally {
        if (active) setLoading(false);
      }
    }
    /** Reloads the game, because the server may have dropped notices. */
    const reload = ({ id }: Game) =>
      api.call('play.get', { gameId: id }).then(
        (now) => now.id === open.current?.id && show(now),
        () => {},
      );
    const stops = [
      api.on('play', ({ game: update }) => update.id === open.current?.id && show(update), runId),
      api.on('humanSuccess', ({ humanSuccess }) => setChoices((old) => old && { ...old, humanSuccess }), runId),
      api.onState((state) => {
        const game = before === 'open' ? open.current : null;
        before = state;
        if (state === 'open') void (game ? reload(game) : openGame());
      }),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
      const gameId = open.current?.id;
      open.current = null;
      setGame(null);
      if (gameId) api.call('play.close', { gameId }).catch(() => {});
    };
  }, [api, runId, environment, show, attempt]);

  const gameId = game?.id;
  const currentCheckpoint = game?.checkpoint;
  useEffect(() => {
    if (!gameId || checkpoint === null || checkpoint === currentCheckpoint) return;
    setLoading(true);
    setProblem(null);
    api
      .call('play.checkpoint', { gameId, checkpoint })
      .then(show, (cause) => !isConnectionLost(cause) && setProblem(asFailure(cause).toApiError()))
      .finally(() => setLoading(false));
  }, [api, gameId, currentCheckpoint, checkpoint, show]);

  const act = useCallback(
    (name: ActName, input: Record<string, unknown> = {}) => {
      const id = open.current?.id;
      if (!id) return;
      api
        .call(name, { gameId: id, ...input } as never)
        .then((next) => (next as Game).id === open.current?.id && show(next as Game))
        .catch((cause) => !isIgnored(cause) && report(cause));
    },
    [api, report, show],
  );
  return { choices, game, problem, loading, act };
}
