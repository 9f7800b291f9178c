import { useId, useMemo, useState } from 'react';
import type { RolloutBoards, RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { formatRoute } from '../base/routes.ts';
import { Empty } from '../components/basics.tsx';
import { percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { environmentTitle } from '../environments/registry.ts';
import { episodeFiles } from '../episodes/episode-files.ts';
import { spansOf } from '../episodes/learned.ts';
import { groupsOf } from '../player/groups.ts';
import { useRun } from '../views/run-view.tsx';
import { useBoards } from './use-boards.ts';
import styles from './wall.module.css';
import { WallField } from './wall-field.tsx';

/** Plays all boards of the newest rollout; before the first rollout, those of the first evaluation. */
export function Wall({ run }: { run: RunSummary }) {
  const rollouts = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  const newest = rollouts.find(({ split }) => split === 'train') ?? rollouts[0] ?? null;
  /** True when all boards have shown their final frames, so that new ones may replace them. */
  const [ended, setEnded] = useState(false);
  const [playing, setPlaying] = useState(true);
  const { boards, failed } = useBoards(run.id, newest, ended && playing);
  /** True if two checkpoints have played the same levels. */
  const compared = useMemo(() => spansOf(episodeFiles(rollouts, [])).length > 0, [rollouts]);
  const title = useId();
  const still = useMemo(() => matchMedia('(prefers-reduced-motion: reduce)').matches, []);

  if (loaded && !newest && !isLive(run.status) && run.status !== 'queued' && run.status !== 'created') return null;
  return (
    <section className={`panel ${styles.wall}`} aria-labelledby={title}>
      <header className={`${styles.head} row wrap`}>
        <h2 id={title}>Boards</h2>
        {boards && <Headline boards={boards} />}
        <span className="spacer" />
        {compared && (
          <a href={formatRoute({ page: 'then-and-now', runId: run.id, set: null, level: null })}>Then and now</a>
        )}
        {boards && <Legend boards={boards} />}
        {boards && !still && (
          <button
            type="button"
            className="icon-button"
            aria-label={playing ? 'Pause boards' : 'Play boards'}
            title={playing ? 'Pause boards' : 'Play boards'}
            onClick={() => setPlaying(!playing)}
          >
            <Icon name={playing ? 'pause' : 'play'} />
          </button>
        )}
      </header>
      {boards ? (
        <WallField
          runId={run.id}
          boards={boards}
          playing={playing}
          still={still}
          onStart={() => setEnded(false)}
          onEnd={() => setEnded(true)}
        />
      ) : (
        <div className={styles.waiting}>
          {newest && (
            <Empty title={failed ? "Can't read the newest episodes" : 'Loading the boards…'}>
              {failed && 'Open Replay to see the error. The next rollout appears here when it is complete.'}
            </Empty>
          )}
          {loaded && !newest && (
            <Empty title="No episodes yet">Episodes play here when the first rollout is complete.</Empty>
          )}
        </div>
      )}
    </section>
  );
}

/** Summarizes the rollout: `Iteration 37: 74 of 128 solved (57.8 %)`. */
function Headline({ boards: { iteration, split, episodes } }: { boards: RolloutBoards }) {
  const solved = episodes.filter(({ summary }) => summary.success).length;
  return (
    <p className={styles.headline}>
      {split === 'train'
        ? `Iteration ${iteration}`
        : `Evaluation on ${environmentTitle(split)} at iteration ${iteration}`}
      :{' '}
      <strong>
        {solved} of {episodes.length}
      </strong>{' '}
      solved <span className="faint">({percent(solved / Math.max(1, episodes.length))})</span>
    </p>
  );
}

function Legend({ boards: { split, episodes } }: { boards: RolloutBoards }) {
  const same =
    split === 'train' && groupsOf(episodes.map(({ summary }) => summary)).some((group) => group.zeroVariance);
  const dropped = split === 'train' && episodes.some(({ summary }) => !summary.kept);
  return (
    <ul className={`${styles.legend} wrap muted small`} aria-label="Legend">
      <li data-key="solved">solved</li>
      <li data-key="failed">not solved</li>
      {dropped && <li data-key="dropped">not trained on</li>}
      {same && <li data-key="same">zero variance</li>}
    </ul>
  );
}
