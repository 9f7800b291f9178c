import { useEffect, useMemo, useRef, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute } from '../../base/routes.ts';
import { type EpisodeFile, episodeFiles, findFile, sameFile } from '../../episodes/episode-files.ts';
import { fetchEpisodes, useEpisodes } from '../../episodes/use-episodes.ts';
import { useReplay } from '../../player/replay-view.tsx';
import { useApp } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { counterpart, firstListing, type Listing, listed } from './episode-list.ts';
import { type ThoughtFilter, useThoughtFilter } from './use-thought-filter.ts';

/** The part of an address that selects an episode of the run. */
export interface ReplayAddress {
  /** An on-demand evaluation; null for the run's own rollouts. */
  evaluation: string | null;
  /** Null selects an episode of the newest file. */
  episodeId: string | null;
  /** Lists only episodes with this first reasoning; null for all. */
  thought: ThoughtFilter | null;
  /** Lists only episodes with these rewards at first; null for all. */
  reward: { least: number; most: number } | null;
}

export type EpisodeSelection = ReturnType<typeof useEpisodeSelection>;

/**
 * Resolves an address to a file and an episode, and changes them. An address without an existing episode
 * selects another episode, with the same group and member as the episode shown before if possible.
 */
export function useEpisodeSelection({ evaluation, episodeId, thought, reward }: ReplayAddress) {
  const runId = useRun((state) => state.runId);
  const rollouts = useRun((state) => state.rollouts);
  const evaluations = useRun((state) => state.evaluations);
  const files = useMemo(() => episodeFiles(rollouts, evaluations), [rollouts, evaluations]);
  const newest = files[0] ?? null;
  /** The newest file when the page opened. Later rollouts must not replace the episode that is shown. */
  const [initial, setInitial] = useState(newest);
  if (!files.some((each) => sameFile(each, initial)) && initial !== newest) setInitial(newest);
  const [following, setFollowing] = useState(false);
  const file = (following ? newest : findFile(files, evaluations, episodeId, evaluation)) ?? initial;

  const episodes = useEpisodes(runId, file);
  const matching = useThoughtFilter(runId, file, episodes, thought);
  const [listing, setListing] = useState<Listing>(() => ({ ...firstListing, ...(reward && { reward }) }));
  const rows = useMemo(() => rowsOf(matching, listing), [matching, listing]);
  const shown = useReplay(({ replay }) => replay?.summary ?? null);
  const shownEvaluation = useReplay((state) => state.evaluation);
  const exists = episodes?.some(({ id }) => id === episodeId) ?? false;
  /** True if the address's reward filter excludes its own episode. Links to the episodes of a reward may do so. */
  const excluded = reward !== null && rows.length > 0 && !rows.some(({ id }) => id === episodeId);
  const selected = excluded
    ? rows[0]!.id
    : exists || (!episodes && !following)
      ? episodeId
      : ((episodes ? nearest(rows, episodes, shown) : shown)?.id ?? null);

  const go = (id: string | null, of: string | null) =>
    navigate({ page: 'replay', runId, evaluation: of, episodeId: id, thought }, true);
  const { openFile, opening, cancelOpening } = useOpenFile(runId, (next, all) => {
    const target = nearest(rowsOf(all, listing), all, shown);
    if (target) go(target.id, next.evaluation);
  });
  const selectedEvaluation = episodes ? (file?.evaluation ?? null) : following ? shownEvaluation : evaluation;

  function select(id: string, of = selectedEvaluation): void {
    cancelOpening();
    setFollowing(false);
    go(id, of);
  }

  return {
    files,
    file,
    /** A chosen file while it loads. */
    opening,
    /** All episodes of the file; null while loading. */
    episodes,
    /** The episodes that match the address's filter by reasoning; null while loading. */
    matching,
    rows,
    listing,
    evaluation: selectedEvaluation,
    /** Id of the selected episode. */
    selected,
    /** The address's episode if it doesn't exist. */
    missing: episodes && !exists && !following ? episodeId : null,
    following,
    select,
    openFile: (next: EpisodeFile) => {
      setFollowing(false);
      openFile(next);
    },
    /** Shows every new file. */
    follow: (on: boolean) => {
      cancelOpening();
      setFollowing(on);
      if (on) go(null, null);
      else go(selected, selectedEvaluation);
    },
    /** Changes the list. If it no longer contains the selected episode, selects its first episode. */
    list: (next: Listing) => {
      setListing(next);
      const remaining = rowsOf(matching, next);
      const [first] = remaining;
      if (first && !remaining.some(({ id }) => id === selected)) select(first.id);
    },
    addressOf: (id: string) =>
      formatRoute({ page: 'replay', runId, evaluation: selectedEvaluation, episodeId: id, thought }),
    clearThought: () => navigate({ page: 'replay', runId, evaluation: selectedEvaluation, episodeId: selected }, true),
  };
}

const nearest = (rows: readonly EpisodeSummary[], episodes: readonly EpisodeSummary[], shown: EpisodeSummary | null) =>
  counterpart(rows.length > 0 ? rows : episodes, shown);

/** Ignores the environment filter if no episode of the file has that environment. */
function rowsOf(episodes: readonly EpisodeSummary[] | null, listing: Listing): EpisodeSummary[] {
  const { environment } = listing;
  const exists = episodes?.some((episode) => episode.environment === environment);
  return listed(episodes ?? [], exists ? listing : { ...listing, environment: null });
}

/** Loads a file's episodes and then calls `onLoad`, unless that was canceled or the page was left. */
function useOpenFile(runId: string, onLoad: (file: EpisodeFile, episodes: readonly EpisodeSummary[]) => void) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [opening, setOpening] = useState<EpisodeFile | null>(null);
  const latest = useRef<EpisodeFile | null>(null);
  const request = (file: EpisodeFile | null) => {
    latest.current = file;
    setOpening(file);
  };
  useEffect(
    () => () => {
      latest.current = null;
    },
    [],
  );
  const openFile = (file: EpisodeFile) => {
    request(file);
    fetchEpisodes(api, runId, file)
      .then((episodes) => latest.current === file && onLoad(file, episodes))
      .catch(report)
      .finally(() => latest.current === file && request(null));
  };
  return { openFile, opening, cancelOpening: () => request(null) };
}
