import { useEffect } from 'react';
import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useReplay, useReplayStore } from '../player/replay-view.tsx';
import { useApp } from '../stores/app-store.ts';
import { useReported } from '../stores/use-query.ts';
import type { FileName } from './episode-files.ts';

/** Requests the summaries of an episode file. */
export const fetchEpisodes = (
  api: Api,
  runId: string,
  { iteration, split, evaluation }: FileName,
): Promise<EpisodeSummary[]> =>
  evaluation
    ? api.call('evaluations.episodes', { runId, name: evaluation })
    : api.call('rollouts.episodes', { runId, iteration, split });

/** Returns the summaries of an episode file; null until loaded. */
export function useEpisodes(runId: string, file: FileName | null): EpisodeSummary[] | null {
  const requested = file?.evaluation ?? null;
  const own = file && requested === null ? { runId, iteration: file.iteration, split: file.split } : null;
  const ownEpisodes = useReported('rollouts.episodes', own);
  const episodes = useReported('evaluations.episodes', requested === null ? null : { runId, name: requested });
  return requested === null ? ownEpisodes : episodes;
}

/** Loads an episode into the player; returns true while loading. */
export function useEpisode(runId: string, evaluation: string | null, episodeId: string | null): boolean {
  const api = useApi();
  const report = useApp((state) => state.report);
  const connection = useApp((state) => state.connection);
  const shown = useReplay((state) => state.evaluation === evaluation && state.replay?.summary.id === episodeId);
  const show = useReplay((state) => state.show);

  useEffect(() => {
    if (!episodeId || connection !== 'open' || shown) return;
    let active = true;
    const request = evaluation
      ? api.call('evaluations.replay', { runId, name: evaluation, episodeId })
      : api.call('rollouts.replay', { runId, episodeId });
    request
      .then((replay) => active && show(replay, evaluation))
      .catch((cause) => active && !isUnknown(cause) && report(cause));
    return () => {
      active = false;
    };
  }, [api, report, show, connection, runId, evaluation, episodeId, shown]);

  return episodeId !== null && !shown;
}

/** Moves the player to the turn in the address (from 1) once the episode is loaded. */
export function useTurn(episodeId: string | null, turn: number | null): void {
  const stage = useReplayStore();
  const shown = useReplay((state) => state.replay?.summary.id === episodeId);
  useEffect(() => {
    if (!shown || turn === null) return;
    const { replay, act } = stage.getState();
    const index = replay!.frames.findIndex((frame, at) => at > 0 && frame.turn === turn - 1);
    if (index > 0) act({ type: 'seek', index });
  }, [stage, shown, turn]);
}

/** Returns whether to ignore an error, because the page reports missing episodes. */
const isUnknown = (cause: unknown) =>
  cause instanceof Failure && ['episode_unknown', 'rollout_unknown'].includes(cause.code);
