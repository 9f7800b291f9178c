import { useId, useMemo, useState } from 'react';
import type { RolloutBoards, RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { Empty } from '../components/basics.tsx';
import { isScored } from '../components/episode-result.tsx';
import { percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { describeEvaluation, describeRollout, temperatureText } from '../components/measured-how.ts';
import { useRun } from '../views/run-view.tsx';
import { useBoards } from './use-boards.ts';
import styles from './wall.module.css';
import { WallField } from './wall-field.tsx';

interface WallProps {
  run: RunSummary;
  /** Height of the boards in CSS pixels. Default: depends on the window. */
  height?: number;
}

/** Plays all boards of the newest rollout once; before the first rollout, those of the first evaluation. */
export function Wall({ run, height }: WallProps) {
  const rollouts = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  const newest = rollouts.find(({ split }) => split === 'train') ?? rollouts[0] ?? null;
  /** True when all boards have shown their final frames, so that new ones may replace them. */
  const [ended, setEnded] = useState(false);
  const [playing, setPlaying] = useState(true);
  const [round, setRound] = useState(0);
  const { boards, failed } = useBoards(run.id, newest, ended && playing);
  const title = useId();
  const still = useMemo(() => matchMedia('(prefers-reduced-motion: reduce)').matches, []);
  const replay = () => {
    setEnded(false);
    setPlaying(true);
    setRound(round + 1);
  };
  // A live run plays the next rollout automatically.
  const over = ended && !isLive(run.status);
  const label = over ? 'Play boards again' : playing ? 'Pause boards' : 'Play boards';

  return (
    <section className={`panel ${styles.wall}`} aria-labelledby={title}>
      <header className={`${styles.head} row`}>
        <h2 id={title}>Boards</h2>
        <span className="spacer" />
        {boards && !still && (
          <button
            type="button"
            className="icon-button"
            aria-label={label}
            title={label}
            onClick={over ? replay : () => setPlaying(!playing)}
          >
            <Icon name={over ? 'reset' : playing ? 'pause' : 'play'} />
          </button>
        )}
      </header>
      <div className={styles.headline}>{boards && <Headline boards={boards} />}</div>
      {boards ? (
        <WallField
          runId={run.id}
          boards={boards}
          playing={playing}
          round={round}
          height={height}
          still={still}
          onStart={() => setEnded(false)}
          onEnd={() => setEnded(true)}
        />
      ) : (
        <div className={styles.waiting} style={height === undefined ? undefined : { minHeight: height }}>
          {newest && (
            <Empty title={failed ? "Can't read the newest episodes" : 'Loading the boards…'}>
              {failed && '“Replay episodes” shows the error.'}
            </Empty>
          )}
          {loaded && !newest && (
            <Empty title="No episodes yet">Episodes play here when the first rollout is complete.</Empty>
          )}
        </div>
      )}
      <Legend hasVoid={boards?.episodes.some(({ summary }) => !isScored(summary)) ?? false} />
    </section>
  );
}

/** Summarizes the rollout: `Iteration 37: 74 of 128 solved (57.8 %, T 1)`. */
function Headline({ boards: { iteration, split, episodes } }: { boards: RolloutBoards }) {
  const config = useRun((state) => state.config);
  const scored = episodes.filter(({ summary }) => isScored(summary));
  const solved = scored.filter(({ summary }) => summary.success).length;
  const voids = episodes.length - scored.length;
  const temperature = temperatureText(config, split === 'train' ? 'rollout' : 'evaluation');
  return (
    <p
      className="small"
      title={`Success in ${split === 'train' ? describeRollout(config) : describeEvaluation(config)}`}
    >
      {split === 'train' ? `Iteration ${iteration}` : `Evaluation at iteration ${iteration}`}:{' '}
      <strong>
        {solved} of {scored.length}
      </strong>{' '}
      solved{' '}
      <span className="faint">
        (
        {[percent(solved / Math.max(1, scored.length)), temperature, voids > 0 && `${voids} void`]
          .filter(Boolean)
          .join(', ')}
        )
      </span>
    </p>
  );
}

/** Explains all marks, so that its height doesn't change between rollouts. */
function Legend({ hasVoid }: { hasVoid: boolean }) {
  return (
    <ul className={`${styles.legend} muted small`} aria-label="Legend">
      <li data-key="solved">solved</li>
      <li data-key="failed">not solved</li>
      {hasVoid && (
        <li data-key="void" title="The environment or the reward program failed; neither trained on nor scored">
          void
        </li>
      )}
      <li data-key="dropped">not trained on</li>
      <li data-key="same">zero variance</li>
    </ul>
  );
}
