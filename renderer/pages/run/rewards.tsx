import { useId, useMemo, useState } from 'react';
import type { RewardHistogram } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute, type RouteOf } from '../../base/routes.ts';
import { percent } from '../../components/format.ts';
import { useFollowed } from '../../stores/use-followed.ts';
import styles from './rewards.module.css';

/** Shows how often each reward occurred: over all iterations as a heat map, and for one iteration as bars that open its episodes. */
export function Rewards({ runId }: { runId: string }) {
  const rewards = useFollowed('rollouts.rewards', { runId }, 'indexed').value;
  const [chosen, setChosen] = useState<number | null>(null);
  const title = useId();
  if (!rewards || rewards.iterations.length === 0) return null;
  const { iterations } = rewards;
  const at = Math.max(0, chosen === null ? iterations.length - 1 : nearest(iterations, chosen));
  const { iteration, counts } = iterations[at]!;
  return (
    <section className={`panel ${styles.rewards}`} aria-labelledby={title}>
      <header className="row wrap">
        <h3 id={title}>Rewards</h3>
        <span className="faint small">training episodes per iteration</span>
        <span className="spacer" />
        <label className="choice">
          <span>Iteration</span>
          <input
            type="range"
            min={0}
            max={iterations.length - 1}
            value={at}
            aria-valuetext={`Iteration ${iteration}`}
            onChange={({ target }) => setChosen(iterations[Number(target.value)]!.iteration)}
          />
          <output className={styles.iteration}>{iteration}</output>
        </label>
      </header>
      <div className={styles.charts}>
        <HeatMap rewards={rewards} at={at} onChoose={setChosen} />
        <Bars runId={runId} rewards={rewards} iteration={iteration} counts={counts} />
      </div>
    </section>
  );
}

type Iterations = RewardHistogram['iterations'];

/** Returns the index of the last listed iteration up to `iteration`, or 0. `iteration` itself is not listed if its episodes were deleted. */
const nearest = (iterations: Iterations, iteration: number) =>
  Math.max(
    0,
    iterations.findLastIndex((each) => each.iteration <= iteration),
  );

/** Returns the center of a bin, without the digits of binary fractions. */
const centerOf = ({ first, step }: RewardHistogram, bin: number) => Number((first + bin * step).toPrecision(6));

interface HeatMapProps {
  rewards: RewardHistogram;
  /** Index of the chosen iteration. */
  at: number;
  onChoose: (iteration: number) => void;
}

/** Shows an iteration as a column and a bin as a cell, darker for more episodes. The slider does the same for the keyboard. */
function HeatMap({ rewards, at, onChoose }: HeatMapProps) {
  const { iterations, bins } = rewards;
  const cells = useMemo(
    () =>
      iterations.flatMap(({ counts }, column) => {
        const total = counts.reduce((sum, count) => sum + count, 0);
        return counts.flatMap((count, bin) =>
          count === 0 ? [] : [{ column, row: bins - 1 - bin, opacity: 0.15 + 0.85 * Math.sqrt(count / total) }],
        );
      }),
    [iterations, bins],
  );
  return (
    <figure className={styles.map}>
      <span className={styles.scale} aria-hidden="true">
        <span>{centerOf(rewards, bins - 1)}</span>
        <span>{centerOf(rewards, 0)}</span>
      </span>
      <svg
        viewBox={`0 0 ${iterations.length} ${bins}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onClick={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          const column = Math.floor(((clientX - left) / Math.max(1, width)) * iterations.length);
          onChoose(iterations[Math.min(iterations.length - 1, Math.max(0, column))]!.iteration);
        }}
      >
        {cells.map(({ column, row, opacity }) => (
          <rect key={`${column} ${row}`} x={column} y={row} width={1.02} height={1.02} fillOpacity={opacity} />
        ))}
        <rect className={styles.chosen} x={at} y={0} width={1} height={bins} />
      </svg>
      <span className={styles.axis} aria-hidden="true">
        <span>{iterations[0]!.iteration}</span>
        <span>{iterations.at(-1)!.iteration}</span>
      </span>
    </figure>
  );
}

interface BarsProps {
  runId: string;
  rewards: RewardHistogram;
  iteration: number;
  counts: readonly number[];
}

/** Shows one iteration. Each bar is a link to its episodes. */
function Bars({ runId, rewards, iteration, counts }: BarsProps) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (
    <ol className={styles.bars} aria-label={`Rewards at iteration ${iteration}`}>
      {counts.map((count, bin) => {
        const center = centerOf(rewards, bin);
        const label = `Reward ${center}: ${count} of ${total} episodes`;
        const to = toEpisodes(runId, iteration, center, rewards.step);
        return (
          <li key={center}>
            {count > 0 ? (
              <a
                href={formatRoute(to)}
                title={`${label} (${percent(count / total)})`}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  navigate(to);
                }}
              >
                <span className={styles.count} aria-hidden="true">
                  {count}
                </span>
                <span className={styles.bar} style={{ height: `${(100 * count) / most}%` }} />
                <span className="visually-hidden">{label}</span>
              </a>
            ) : (
              <span className={styles.none} />
            )}
            {(bin % labelEvery(rewards.bins) === 0 || bin === rewards.bins - 1) && (
              <span className={`${styles.center} faint`} aria-hidden="true">
                {center}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const labelEvery = (bins: number) => Math.max(1, Math.ceil(bins / 6));

/** Returns the address of an iteration's episodes with rewards in a bin. */
function toEpisodes(runId: string, iteration: number, center: number, step: number): RouteOf<'replay'> {
  const edge = (by: number) => Number((center + by * step).toPrecision(6));
  const episodeId = `${String(iteration).padStart(6, '0')}-train-0000`;
  return { page: 'replay', runId, episodeId, reward: { least: edge(-0.5), most: edge(0.5) } };
}
