import { useEffect, useMemo, useState } from 'react';
import { asFailure } from '../../../core/contract/failure.ts';
import { Empty, ErrorNote, StatusBadge } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { isLive } from '../../components/run-facts.ts';
import { Stage } from '../../player/stage.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { formatRoute, navigate } from '../../router.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useReplay, useReplayStore } from '../../views/replay-view.tsx';
import { useRun } from '../../views/run-view.tsx';
import { Conversation } from './conversation.tsx';
import { type EpisodeFile, episodeFiles, findFile, sameFile } from './episode-files.ts';
import { counterpart } from './episode-list.ts';
import { EpisodeTable } from './episode-table.tsx';
import { FileChoice } from './file-choice.tsx';
import { LevelStrip } from './level-strip.tsx';
import { ThoughtNote } from './thought-note.tsx';
import { useEpisode, useEpisodes } from './use-episodes.ts';
import { type ThoughtFilter, useOfThought } from './use-of-thought.ts';

interface ReplayPageProps {
  /** An evaluation that was asked for; null: the run's own rollouts. */
  evaluation: string | null;
  episodeId: string | null;
  /** Only episodes with such a first thought; null: all. */
  thought: ThoughtFilter | null;
}

/** Inside the run's view and one of a replay. */
export function ReplayPage({ evaluation, episodeId, thought }: ReplayPageProps) {
  const runId = useRun((state) => state.runId);
  const stage = useReplayStore();
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const rollouts = useRun((state) => state.rollouts);
  const evaluations = useRun((state) => state.evaluations);
  const files = useMemo(() => episodeFiles(rollouts, evaluations), [rollouts, evaluations]);
  const loaded = useRun((state) => state.loaded);
  const problem = useRun((state) => state.problem);
  const [followed, setFollowed] = useState(false);
  /** A file that was chosen and of which no episode is shown yet. */
  const [wanted, setWanted] = useState<EpisodeFile | null>(null);
  /** An episode that the address named and that isn't there. */
  const [missing, setMissing] = useState<string | null>(null);
  const newest = files[0] ?? null;
  const file =
    (followed ? newest : (wanted ?? findFile(files, evaluations, episodeId, evaluation))) ?? newest;
  const shownEvaluation = file?.evaluation ?? null;
  const episodes = useEpisodes(runId, file);
  const ofThought = useOfThought(runId, file, episodes, thought);
  const loading = useEpisode(runId, evaluation, episodeId);
  const replay = useReplay((state) => state.replay);
  usePlayer();

  useEffect(() => {
    document.title = `Replay · ${name} · StarPO Studio`;
  }, [name]);

  // Another file was chosen or has come: go to the same place in it.
  useEffect(() => {
    if (!episodes) return;
    // Yet another may have been chosen since these episodes came.
    setWanted((latest) => (sameFile(latest, file) ? null : latest));
    if (evaluation === shownEvaluation && episodes.some(({ id }) => id === episodeId)) return;
    const asked = !followed && !wanted && !episodes.some(({ id }) => id === episodeId);
    if (asked && episodeId) setMissing(episodeId);
    const chosen = counterpart(episodes, stage.getState().replay?.summary ?? null);
    if (chosen)
      navigate({ page: 'replay', runId, evaluation: shownEvaluation, episodeId: chosen.id, thought }, true);
  }, [thought, episodes, file, followed, wanted, evaluation, shownEvaluation, episodeId, runId, stage]);

  function choose(id: string, of: string | null): void {
    setFollowed(false);
    setWanted(null);
    setMissing(null);
    navigate({ page: 'replay', runId, evaluation: of, episodeId: id, thought }, true);
  }

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
        {file?.split === 'train' && file.evaluation === null && (
          <a className="button" href={formatRoute({ page: 'thoughts', runId, iteration: file.iteration })}>
            <Icon name="tree" size={14} />
            Thought tree
          </a>
        )}
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
          There is no episode <code>{missing}</code> in this run; another is shown.
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
          <EpisodeTable
            episodes={ofThought}
            current={episodeId}
            onChoose={(id) => choose(id, shownEvaluation)}
          />
          {replay ? (
            <>
              <Stage replay={replay} loading={loading} />
              <Conversation key={replay.summary.id} replay={replay} />
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
