import { useEffect, useMemo, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute, navigate } from '../../base/router.ts';
import { Empty, ErrorNote, StatusBadge } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { type EpisodeFile, episodeFiles, findFile, sameFile } from '../../episodes/episode-files.ts';
import { spansOf } from '../../episodes/learned.ts';
import { SaveMenu } from '../../episodes/save/save-menu.tsx';
import { useEpisode, useEpisodes, useTurn } from '../../episodes/use-episodes.ts';
import { groupsOf } from '../../player/groups.ts';
import { useReplay, useReplayStore } from '../../player/replay-view.tsx';
import { Stage } from '../../player/stage.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { Conversation } from './conversation.tsx';
import { counterpart, firstListing, type Listing, listed } from './episode-list.ts';
import { EpisodeTable } from './episode-table.tsx';
import { FileChoice } from './file-choice.tsx';
import { FilterView } from './filter-view.tsx';
import { filterOf } from './filter-words.ts';
import { GroupMates } from './group-mates.tsx';
import { LevelStrip } from './level-strip.tsx';
import { ThoughtNote } from './thought-note.tsx';
import type { Measure } from './tokens/token-scale.ts';
import { type ThoughtFilter, useOfThought } from './use-of-thought.ts';

interface ReplayPageProps {
  /** A requested evaluation; null for the run's own rollouts. */
  evaluation: string | null;
  episodeId: string | null;
  /** The first turn to play, from 1. */
  turn: number | null;
  /** Lists only episodes with this first reasoning; null for all. */
  thought: ThoughtFilter | null;
}

/** Inside the run's view and one of a replay. */
export function ReplayPage({ evaluation, episodeId, turn, thought }: ReplayPageProps) {
  const runId = useRun((state) => state.runId);
  const stage = useReplayStore();
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const rollouts = useRun((state) => state.rollouts);
  const evaluations = useRun((state) => state.evaluations);
  const files = useMemo(() => episodeFiles(rollouts, evaluations), [rollouts, evaluations]);
  const spans = useMemo(() => spansOf(files), [files]);
  const loaded = useRun((state) => state.loaded);
  const problem = useRun((state) => state.problem);
  const [followed, setFollowed] = useState(false);
  /** A chosen file whose episodes aren't shown yet. */
  const [wanted, setWanted] = useState<EpisodeFile | null>(null);
  /** The id of an episode in the address that doesn't exist. */
  const [missing, setMissing] = useState<string | null>(null);
  const newest = files[0] ?? null;
  const file =
    (followed ? newest : (wanted ?? findFile(files, evaluations, episodeId, evaluation))) ?? newest;
  const shownEvaluation = file?.evaluation ?? null;
  const episodes = useEpisodes(runId, file);
  const ofThought = useOfThought(runId, file, episodes, thought);
  const [listing, setListing] = useState<Listing>(firstListing);
  const rows = useMemo(() => rowsOf(ofThought, listing), [ofThought, listing]);
  const groups = useMemo(() => groupsOf(episodes ?? []), [episodes]);
  const filter = filterOf(useRun((state) => state.config));
  /** Whether several episodes share a level, as in training. */
  const grouped = file?.split === 'train' && groups.some(({ members }) => members.length > 1);
  const [view, setView] = useState<'episodes' | 'groups'>('episodes');
  const [measure, setMeasure] = useState<Measure | null>(null);
  const loading = useEpisode(runId, evaluation, episodeId);
  const replay = useReplay((state) => state.replay);
  usePlayer();
  useTurn(episodeId, turn);

  useEffect(() => {
    document.title = `Replay · ${name} · StarPO Studio`;
  }, [name]);

  // Shows the same position in a file that was chosen or added.
  useEffect(() => {
    if (!episodes) return;
    // The user may have chosen another file since the request.
    setWanted((latest) => (sameFile(latest, file) ? null : latest));
    if (evaluation === shownEvaluation && episodes.some(({ id }) => id === episodeId)) return;
    const asked = !followed && !wanted && !episodes.some(({ id }) => id === episodeId);
    if (asked && episodeId) setMissing(episodeId);
    const place = stage.getState().replay?.summary ?? null;
    const chosen = counterpart(rows.length > 0 ? rows : episodes, place);
    if (chosen)
      navigate({ page: 'replay', runId, evaluation: shownEvaluation, episodeId: chosen.id, thought }, true);
  }, [thought, episodes, rows, file, followed, wanted, evaluation, shownEvaluation, episodeId, runId, stage]);

  const addressOf = (id: string, of: string | null) =>
    formatRoute({ page: 'replay', runId, evaluation: of, episodeId: id, thought });

  /** Changes the list. If it no longer contains the shown episode, shows its first one. */
  function list(next: Listing): void {
    setListing(next);
    const shown = rowsOf(ofThought, next);
    const [first] = shown;
    if (first && !shown.some(({ id }) => id === episodeId)) choose(first.id, shownEvaluation);
  }

  function choose(id: string, of: string | null): void {
    setFollowed(false);
    setWanted(null);
    setMissing(null);
    navigate({ page: 'replay', runId, evaluation: of, episodeId: id, thought }, true);
  }

  const ways = {
    addressOf: (id: string) => addressOf(id, shownEvaluation),
    onChoose: (id: string) => choose(id, shownEvaluation),
  };

  if (problem) {
    return (
      <div className="page">
        <h1>Replay</h1>
        <ErrorNote error={asFailure(problem).toApiError()} />
      </div>
    );
  }

  return (
    <div className="replay-page">
      <header className="replay-head">
        <a className="back-link" href={formatRoute({ page: 'run', runId })}>
          <Icon name="back" size={14} />
          {name}
        </a>
        <h1>Replay</h1>
        {run && <StatusBadge status={run.status} />}
        <span className="spacer" />
        {spans.length > 0 && (
          <a className="button" href={formatRoute({ page: 'then-and-now', runId, set: null, level: null })}>
            Then and now
          </a>
        )}
        {file?.split === 'train' && file.evaluation === null && (
          <a className="button" href={formatRoute({ page: 'thoughts', runId, iteration: file.iteration })}>
            <Icon name="tree" size={14} />
            Thought tree
          </a>
        )}
        {replay && <SaveMenu runId={runId} name={name} replay={replay} evaluation={evaluation} />}
        <FileChoice
          files={files}
          file={file}
          followed={followed}
          onFollow={run && isLive(run.status) ? setFollowed : null}
          onChoose={(chosen) => {
            setFollowed(false);
            setWanted(chosen);
            setMissing(null);
          }}
        />
      </header>
      {thought && file?.split === 'train' && (
        <ThoughtNote
          thought={thought}
          clear={() => navigate({ page: 'replay', runId, evaluation: shownEvaluation, episodeId }, true)}
        />
      )}
      {missing && (
        <p className="replay-missing" role="status">
          Episode <code>{missing}</code> was not found. Another episode is shown instead.
        </p>
      )}
      {replay && file && file.split !== 'train' && (
        <LevelStrip runId={runId} files={files} file={file} level={replay.summary} onChoose={choose} />
      )}
      {loaded && files.length === 0 ? (
        <Empty title="No episodes yet">
          They appear here as soon as the first evaluation or rollout is complete.
        </Empty>
      ) : (
        <div className="replay-body">
          <div className="replay-side">
            {grouped && (
              <fieldset className="segments replay-views" aria-label="List">
                {(['episodes', 'groups'] as const).map((each) => (
                  <button key={each} type="button" aria-pressed={view === each} onClick={() => setView(each)}>
                    {each === 'episodes' ? 'Episodes' : 'Groups'}
                  </button>
                ))}
              </fieldset>
            )}
            {grouped && view === 'groups' ? (
              <FilterView groups={groups} filter={filter} current={replay?.summary.group ?? null} {...ways} />
            ) : (
              <EpisodeTable
                episodes={ofThought}
                rows={rows}
                listing={listing}
                onList={list}
                current={episodeId}
                {...ways}
              />
            )}
          </div>
          {replay ? (
            <>
              <Stage replay={replay} loading={loading} />
              <Conversation key={replay.summary.id} replay={replay} measure={measure} onMeasure={setMeasure}>
                {grouped && file && <GroupMates runId={runId} file={file} shown={replay.summary} {...ways} />}
              </Conversation>
            </>
          ) : (
            <div className="stage">
              <Empty title="Loading the episode…" />
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Ignores the environment filter while the shown file has no episodes of that environment. */
function rowsOf(episodes: readonly EpisodeSummary[] | null, listing: Listing) {
  const { environment } = listing;
  const known = episodes?.some((episode) => episode.environment === environment) ? environment : null;
  return listed(episodes ?? [], { ...listing, environment: known });
}
