import { useMemo, useState } from 'react';
import { asFailure } from '../../../core/contract/failure.ts';
import { hasEnded, isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { BackToRun } from '../../components/back-to-run.tsx';
import { Empty, ErrorNote, StatusBadge } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { spansOf } from '../../episodes/learned.ts';
import { SaveMenu } from '../../episodes/save/save-menu.tsx';
import { useEpisode, useTurn } from '../../episodes/use-episodes.ts';
import { type Group, groupsOf } from '../../player/groups.ts';
import { useReplay } from '../../player/replay-view.tsx';
import { Stage } from '../../player/stage.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { Conversation } from './conversation.tsx';
import { EpisodeTable } from './episode-table.tsx';
import { FileChoice } from './file-choice.tsx';
import { filterOf } from './filter-text.ts';
import { FilterView } from './filter-view.tsx';
import { GroupMates } from './group-mates.tsx';
import { LevelStrip } from './level-strip.tsx';
import { ThoughtNote } from './thought-note.tsx';
import { type EpisodeSelection, type ReplayAddress, useEpisodeSelection } from './use-episode-selection.ts';

interface ReplayPageProps extends ReplayAddress {
  /** The first turn to play, from 1. */
  turn: number | null;
}

/** Plays the run's episodes. Must be inside a RunView and a ReplayView. */
export function ReplayPage({ turn, ...address }: ReplayPageProps) {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const loaded = useRun((state) => state.loaded);
  const problem = useRun((state) => state.problem);
  const selection = useEpisodeSelection(address);
  const { files, file, missing } = selection;
  const replay = useReplay((state) => state.replay);
  const loading = useEpisode(runId, selection.evaluation, selection.selected);
  usePlayer();
  useTurn(address.episodeId, turn);
  useTitle(`Replay · ${name}`);

  if (problem) {
    return (
      <div className="page">
        <h1>Replay</h1>
        <ErrorNote error={asFailure(problem).toApiError()} />
      </div>
    );
  }
  return (
    <div className="replay-page column">
      <Header name={name} selection={selection} />
      {address.thought && file?.split === 'train' && (
        <ThoughtNote thought={address.thought} clear={selection.clearThought} />
      )}
      {missing && (
        <p className="replay-missing" role="status">
          Episode <code>{missing}</code> was not found. Another episode is shown instead.
        </p>
      )}
      {replay && file && file.split !== 'train' && (
        <LevelStrip runId={runId} files={files} file={file} level={replay.summary} onChoose={selection.select} />
      )}
      {loaded && files.length === 0 ? (
        <Empty title="No episodes">
          {run && hasEnded(run)
            ? 'The run has no rollout, or its episodes were deleted.'
            : 'Episodes appear here after the first evaluation or rollout.'}
        </Empty>
      ) : (
        <Body selection={selection} loading={loading} />
      )}
    </div>
  );
}

function Header({ name, selection }: { name: string; selection: EpisodeSelection }) {
  const { files, file, opening, evaluation, following, openFile, follow } = selection;
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const replay = useReplay((state) => state.replay);
  const comparable = useMemo(() => spansOf(files).length > 0, [files]);
  return (
    <header className="replay-head row wrap">
      <BackToRun runId={runId} name={name} />
      <h1>Replay</h1>
      {run && <StatusBadge run={run} />}
      <span className="spacer" />
      {comparable && (
        <a className="button" href={formatRoute({ page: 'then-and-now', runId, set: null, level: null })}>
          <Icon name="compare" size={14} />
          Then and now
        </a>
      )}
      {file?.split === 'train' && file.evaluation === null && (
        <a className="button" href={formatRoute({ page: 'thoughts', runId, iteration: file.iteration })}>
          <Icon name="tree" size={14} />
          Reasoning
        </a>
      )}
      {replay && <SaveMenu runId={runId} name={name} replay={replay} evaluation={evaluation} />}
      <FileChoice
        files={files}
        file={opening ?? file}
        following={following}
        onFollow={run && isLive(run.status) ? follow : null}
        onChoose={openFile}
      />
    </header>
  );
}

/** Shows the list of episodes or groups, the player and the conversation. */
function Body({ selection, loading }: { selection: EpisodeSelection; loading: boolean }) {
  const runId = useRun((state) => state.runId);
  const replay = useReplay((state) => state.replay);
  const { file, episodes, addressOf, select } = selection;
  const groups = useMemo(() => groupsOf(episodes ?? []), [episodes]);
  /** True if several episodes share a level, as in training. */
  const grouped = file?.split === 'train' && groups.some(({ members }) => members.length > 1);
  return (
    <div className="replay-body">
      <Lists selection={selection} groups={grouped ? groups : null} />
      {replay ? (
        <>
          <Stage replay={replay} loading={loading} />
          <Conversation key={replay.summary.id} replay={replay}>
            {grouped && (
              <GroupMates runId={runId} file={file} shown={replay.summary} addressOf={addressOf} onChoose={select} />
            )}
          </Conversation>
        </>
      ) : (
        <div className="stage">
          <Empty title="Loading the episode…" />
        </div>
      )}
    </div>
  );
}

interface ListsProps {
  selection: EpisodeSelection;
  /** Null if the file has no groups. */
  groups: readonly Group[] | null;
}

/** Lists the file's episodes, or its groups with the filter's decision. */
function Lists({ selection, groups }: ListsProps) {
  const [view, setView] = useState<'episodes' | 'groups'>('episodes');
  const filter = filterOf(useRun((state) => state.config));
  const group = useReplay(({ replay }) => replay?.summary.group ?? null);
  const { matching, rows, listing, list, selected, addressOf, select } = selection;
  return (
    <div className="replay-side column">
      {groups && (
        <fieldset className="segments replay-views" aria-label="List">
          {(['episodes', 'groups'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={view === each} onClick={() => setView(each)}>
              {each === 'episodes' ? 'Episodes' : 'Groups'}
            </button>
          ))}
        </fieldset>
      )}
      {groups && view === 'groups' ? (
        <FilterView groups={groups} filter={filter} current={group} addressOf={addressOf} onChoose={select} />
      ) : (
        <EpisodeTable
          episodes={matching}
          rows={rows}
          listing={listing}
          onList={list}
          current={selected}
          addressOf={addressOf}
          onChoose={select}
        />
      )}
    </div>
  );
}
