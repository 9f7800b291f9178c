import { useEffect, useMemo } from 'react';
import type { RolloutBoards } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { BackToRun } from '../../components/back-to-run.tsx';
import { Empty, ErrorNote } from '../../components/basics.tsx';
import { number, signed } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useEpisode, useEpisodes } from '../../episodes/use-episodes.ts';
import { useGroup } from '../../episodes/use-group.ts';
import { type Group, groupsOf, solvedText } from '../../player/groups.ts';
import { paintingOfBoards } from '../../player/paintings.ts';
import { useReplay } from '../../player/replay-view.tsx';
import { Transport } from '../../player/transport.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { bestOf, firstDifference } from './first-difference.ts';
import { GroupCard } from './group-card.tsx';
import styles from './group-page.module.css';

interface GroupPageProps {
  iteration: number;
  /** Index of the group, from 0. */
  group: number;
}

/** Plays the episodes of one prompt side by side. Must be inside a RunView and a ReplayView. */
export function GroupPage({ iteration, group: index }: GroupPageProps) {
  const runId = useRun((state) => state.runId);
  const problem = useRun((state) => state.problem);
  const file = useMemo(() => ({ iteration, split: 'train', evaluation: null }), [iteration]);
  const episodes = useEpisodes(runId, file);
  const groups = useMemo(() => groupsOf(episodes ?? []), [episodes]);
  const group = groups.find((each) => each.group === index);
  const { boards, failed } = useGroup(runId, file, index);
  usePlayer();
  useTitle(`Group ${index + 1} · iteration ${iteration}`);

  if (problem) {
    return (
      <div className="page">
        <h1>Group {index + 1}</h1>
        <ErrorNote error={asFailure(problem).toApiError()} />
      </div>
    );
  }
  return (
    <div className="page">
      <Header iteration={iteration} index={index} groups={groups} group={group} />
      {boards && boards.episodes.length > 0 ? (
        <Cards boards={boards} />
      ) : (
        <div className="panel">
          {failed ? (
            <Empty title="The episodes are not available">They may have been deleted.</Empty>
          ) : (
            <Empty title={boards ? 'This iteration has no such group' : 'Loading the group…'} />
          )}
        </div>
      )}
    </div>
  );
}

interface HeaderProps {
  iteration: number;
  index: number;
  groups: readonly Group[];
  group: Group | undefined;
}

function Header({ iteration, index, groups, group }: HeaderProps) {
  const runId = useRun((state) => state.runId);
  const name = useRunSummary(runId)?.name ?? runId;
  const at = groups.findIndex((each) => each.group === index);
  const link = (to: Group | undefined, text: string, icon: 'previous' | 'next') =>
    to ? (
      <a className="icon-button" href={formatRoute({ page: 'group', runId, iteration, group: to.group + 1 })}>
        <Icon name={icon} />
        <span className="visually-hidden">{text}</span>
      </a>
    ) : (
      <span className="icon-button" aria-hidden="true" />
    );
  return (
    <header className={styles.head}>
      <BackToRun runId={runId} name={name} />
      <div className="row wrap">
        <h1>
          Group {index + 1}
          {groups.length > 0 && <span className={`${styles.of} faint`}> of {groups.length}</span>}
        </h1>
        {link(groups[at - 1], 'Previous group', 'previous')}
        {link(at < 0 ? undefined : groups[at + 1], 'Next group', 'next')}
        <span className="spacer" />
        {group && (
          <a className="button" href={formatRoute({ page: 'replay', runId, episodeId: group.members[0]!.id })}>
            Open in Replay
          </a>
        )}
      </div>
      <p className="muted">
        Iteration {iteration}
        {group && (
          <>
            {' · '}
            {environmentTitle(group.environment)}, seed {group.seed} · {solvedText(group)} · mean reward{' '}
            {group.mean === null ? '–' : signed(group.mean)}
            {group.rewardStd !== null && `, std ${number(group.rewardStd)}`} · {group.zeroVariance && 'zero variance, '}
            {group.kept ? 'trained on' : 'not trained on'}
          </>
        )}
      </p>
    </header>
  );
}

/** Shows the episodes by number. The longest one is the player's. */
function Cards({ boards }: { boards: RolloutBoards }) {
  const runId = useRun((state) => state.runId);
  const cards = useMemo(() => {
    const episodes = boards.episodes.toSorted((a, b) => a.summary.member - b.summary.member);
    const best = episodes[bestOf(episodes.map(({ summary }) => summary))]!;
    return episodes.map((episode) => ({
      episode,
      best,
      painting: paintingOfBoards(boards, episode),
      differs: episode === best || episode.summary.void ? null : firstDifference(episode.actions, best.actions),
    }));
  }, [boards]);
  const longest = cards.reduce((a, b) => (b.episode.actions.length > a.episode.actions.length ? b : a));
  useEpisode(runId, null, longest.episode.summary.id);
  const replay = useReplay((state) => state.replay);
  const act = useReplay((state) => state.act);
  // The boards play immediately unless the user prefers reduced motion.
  useEffect(() => {
    if (replay && !matchMedia('(prefers-reduced-motion: reduce)').matches) act({ type: 'toggle' });
  }, [replay, act]);
  return (
    <>
      <ul className={styles.cards} aria-label="Episodes of the group">
        {cards.map((card) => (
          <GroupCard key={card.episode.summary.id} {...card} runId={runId} />
        ))}
      </ul>
      <div className={`panel ${styles.player}`}>{replay && <Transport replay={replay} />}</div>
    </>
  );
}
