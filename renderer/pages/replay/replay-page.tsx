import { useEffect, useState } from 'react';
import { asFailure } from '../../../core/api/failure.ts';
import { useApi } from '../../api/context.ts';
import { Empty, ErrorNote, StatusBadge } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { isLive } from '../../components/run-facts.ts';
import { Stage } from '../../player/stage.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { formatRoute, navigate } from '../../router.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useReplay } from '../../stores/replay-store.ts';
import { followRun, useRun } from '../../stores/run-store.ts';
import { Conversation } from './conversation.tsx';
import { counterpart, type FileName, fileOf } from './episode-list.ts';
import { EpisodeTable } from './episode-table.tsx';
import { FileChoice } from './file-choice.tsx';
import { useEpisode, useEpisodes } from './use-episodes.ts';

export function ReplayPage({ runId, episodeId }: { runId: string; episodeId: string | null }) {
  const api = useApi();
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const files = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  const problem = useRun((state) => state.problem);
  const [followed, setFollowed] = useState(false);
  /** A file that was chosen and of which no episode is shown yet. */
  const [wanted, setWanted] = useState<FileName | null>(null);
  const newest = files[0] ?? null;
  const file = (followed ? newest : (wanted ?? fileOf(episodeId))) ?? newest;
  const episodes = useEpisodes(runId, file);
  const loading = useEpisode(runId, episodeId);
  const replay = useReplay((state) => state.replay);
  usePlayer();

  useEffect(() => followRun(api, runId), [api, runId]);
  useEffect(() => {
    document.title = `Replay · ${name} · StarPO Studio`;
  }, [name]);

  // Another file was chosen or has come: go to the same place in it.
  useEffect(() => {
    if (!episodes) return;
    setWanted(null);
    if (episodes.some(({ id }) => id === episodeId)) return;
    const chosen = counterpart(episodes, useReplay.getState().replay?.summary ?? null);
    if (chosen) navigate({ page: 'replay', runId, episodeId: chosen.id }, true);
  }, [episodes, episodeId, runId]);

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
        <FileChoice
          files={files}
          file={file}
          followed={followed}
          onFollow={run && isLive(run.status) ? setFollowed : null}
          onChoose={(chosen) => {
            setFollowed(false);
            setWanted(chosen);
          }}
        />
      </header>
      {loaded && files.length === 0 ? (
        <Empty title="No episodes yet">
          They appear here as soon as the first evaluation or rollout is complete.
        </Empty>
      ) : (
        <div className="replay-body">
          <EpisodeTable
            episodes={episodes}
            current={episodeId}
            onChoose={(id) => {
              setFollowed(false);
              navigate({ page: 'replay', runId, episodeId: id }, true);
            }}
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
