import { useEffect, useMemo, useState } from 'react';
import type { EpisodeSummary, RolloutBoards } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { type Api, isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { isScored } from '../../components/episode-result.tsx';
import { paintingOfBoards } from '../../player/paintings.ts';
import { useApp } from '../../stores/app-store.ts';
import type { EpisodeFile } from '../episode-files.ts';
import { fetchEpisodes } from '../use-episodes.ts';
import { type Clip, mostInstructiveLevel, type Stage, stageFiles } from './clip.ts';

/** A clip, or the reason why there is none; null while loading. */
export type ClipResult = { clip: Clip } | { missing: string } | null;

interface ClipRequest {
  runId: string;
  /** All files of the run that can be replayed. */
  files: readonly EpisodeFile[];
  /** The evaluation set, and the last iteration of the clip. */
  set: string;
  upTo: number;
  /** The best iteration of a run that collapsed afterwards. */
  peak?: number | null;
  /** Counted from 1; null selects the level that shows learning best. */
  level: number | null;
}

/** Loads a clip of one level over a run's checkpoints. */
export function useClip({ runId, files, set, upTo, peak = null, level }: ClipRequest): ClipResult {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const stages = useMemo(() => stageFiles(files, set, upTo, peak), [files, set, upTo, peak]);
  const key = JSON.stringify([runId, level, stages]);
  const [loaded, setLoaded] = useState<{ key: string; result: ClipResult } | null>(null);
  useEffect(() => {
    if (connection !== 'open') return;
    let active = true;
    makeClip(api, runId, stages, level, peak)
      .catch((cause): ClipResult => {
        if (isConnectionLost(cause)) return null;
        return { missing: `No clip. ${asFailure(cause).message}` };
      })
      .then((result) => active && setLoaded({ key, result }));
    return () => {
      active = false;
    };
  }, [api, connection, runId, stages, level, peak, key]);
  return loaded?.key === key ? loaded.result : null;
}

async function makeClip(
  api: Api,
  runId: string,
  files: readonly EpisodeFile[],
  level: number | null,
  peak: number | null,
): Promise<ClipResult> {
  if (files.length < 2) return { missing: 'No clip: it needs the episodes of two checkpoints on the same levels.' };
  const all = await Promise.all(files.map((file) => fetchEpisodes(api, runId, file)));
  const episodes = all.map((ofFile) => ofFile.filter(isScored));
  const peakAt = files.findIndex(({ iteration }) => iteration === peak);
  const group = level === null ? mostInstructiveLevel(episodes, peakAt < 0 ? undefined : peakAt) : level - 1;
  if (group === null)
    return { missing: 'No clip: no level that failed at the first checkpoint was solved at the last.' };
  const boards = await Promise.all(
    files.map(({ iteration, split, evaluation }) =>
      api.call('rollouts.boards', { runId, iteration, split, evaluation, group }),
    ),
  );
  const stages = files.flatMap((file, at) => stageOf(file, episodes[at]!, boards[at]!) ?? []);
  return { clip: { level: group + 1, stages } };
}

/** Returns null if the checkpoint didn't play the level. */
function stageOf(
  { iteration, evaluation }: EpisodeFile,
  all: readonly EpisodeSummary[],
  boards: RolloutBoards,
): Stage | null {
  const episode = boards.episodes[0];
  if (!episode || !isScored(episode.summary)) return null;
  return {
    iteration,
    solved: all.filter(({ success }) => success).length,
    levels: all.length,
    summary: episode.summary,
    evaluation,
    painting: paintingOfBoards(boards, episode),
    moved: episode.actions.map((action) => action !== null),
  };
}
