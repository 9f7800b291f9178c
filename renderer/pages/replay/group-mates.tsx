import { useEffect, useMemo, useState } from 'react';
import type { EpisodeSummary, RolloutBoards } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { signed } from '../../components/format.ts';
import type { FileName } from '../../episodes/episode-files.ts';
import { MiniBoard } from '../../player/mini-board.tsx';
import { paintingOfBoards } from '../../player/paintings.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './group-mates.module.css';

interface GroupMatesProps {
  runId: string;
  file: FileName;
  /** The current episode. */
  shown: EpisodeSummary;
  addressOf: (id: string) => string;
  onChoose: (id: string) => void;
}

/** Shows the episodes of the group side by side, which are different samples on the same level. They follow the player. */
export function GroupMates({ runId, file, shown, addressOf, onChoose }: GroupMatesProps) {
  const boards = useGroup(runId, file, shown.group);
  const mates = useMemo(
    () =>
      boards?.episodes
        .toSorted((a, b) => a.summary.member - b.summary.member)
        .map((episode) => ({ ...episode, painting: paintingOfBoards(boards, episode) })),
    [boards],
  );
  if (!mates || mates.length < 2) return null;
  return (
    <section className={styles.mates} aria-label="Group">
      <h3>
        Group <span className="faint">{mates.length} episodes of this level</span>
      </h3>
      <ul>
        {mates.map(({ summary, thought, painting }) => (
          <li key={summary.id}>
            <a
              className={`${styles.mate} muted small`}
              href={addressOf(summary.id)}
              aria-current={summary.id === shown.id || undefined}
              title={thought}
              data-dropped={!summary.kept || undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                onChoose(summary.id);
              }}
            >
              <span className="visually-hidden">
                Episode {summary.member + 1}: {summary.success ? 'success' : 'failed'}, reward {signed(summary.reward)}.{' '}
                {thought}
              </span>
              <MiniBoard painting={painting} size={76} />
              <span className={styles.line} aria-hidden="true">
                <span className="result" data-success={summary.success}>
                  {summary.success ? '✓' : '✕'}
                </span>
                {summary.group + 1}.{summary.member + 1}
                <span className={styles.reward}>{signed(summary.reward)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the boards of a group; null while loading or on failure. */
function useGroup(runId: string, { iteration, split, evaluation }: FileName, group: number): RolloutBoards | null {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const key = `${runId} ${iteration} ${split} ${evaluation} ${group}`;
  const [loaded, setLoaded] = useState<{ key: string; boards: RolloutBoards } | null>(null);
  useEffect(() => {
    if (connection !== 'open') return;
    let active = true;
    api
      .call('rollouts.boards', { runId, iteration, split, evaluation, group })
      .then((boards) => active && setLoaded({ key, boards }))
      // The episode list reports errors of the same file.
      .catch(() => {});
    return () => {
      active = false;
    };
  }, [api, connection, runId, iteration, split, evaluation, group, key]);
  return loaded?.key === key ? loaded.boards : null;
}
