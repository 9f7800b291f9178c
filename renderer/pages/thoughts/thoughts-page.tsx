import { useEffect, useMemo, useRef, useState } from 'react';
import type { Thoughts } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { hasEnded } from '../../../core/contract/run-facts.ts';
import { navigate } from '../../base/router.ts';
import { useTitle } from '../../base/title.ts';
import { BackToRun } from '../../components/back-to-run.tsx';
import { Empty, ErrorNote, IconButton } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { useWidth } from '../../components/use-width.ts';
import { type Branch, leavesOf, matches, openingCounts, thoughtTree } from '../../episodes/thought-tree.ts';
import { useThoughts } from '../../episodes/use-thoughts.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { Branches } from './branches.tsx';
import styles from './thoughts-page.module.css';

/** Milliseconds per iteration while playing. */
const iterationTime = 900;
/** Sizes in pixels. */
const minColumn = 185;
const minHeight = 420;
/** Higher than a line of text, so that frequent branches are higher than rare ones. */
const leafHeight = 38;

/**
 * Shows the first reasoning of all episodes as a tree of words. In an Echo Trap, few branches remain. Must be inside a RunView.
 */
export function ThoughtsPage({ iteration }: { iteration: number | null }) {
  const runId = useRun((state) => state.runId);
  const problem = useRun((state) => state.problem);
  const loaded = useRun((state) => state.loaded);
  const rollouts = useRun((state) => state.rollouts);
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const iterations = useMemo(
    () =>
      rollouts
        .filter(({ split }) => split === 'train')
        .map((file) => file.iteration)
        .sort((a, b) => a - b),
    [rollouts],
  );
  const shown = iteration ?? iterations.at(-1) ?? null;
  const { thoughts, problem: failure, loading } = useThoughts(runId, loaded ? shown : null);
  useTitle(`Reasoning tree · ${name}`);
  if (problem) {
    return (
      <div className="page">
        <h1>Reasoning tree</h1>
        <ErrorNote error={asFailure(problem).toApiError()} />
      </div>
    );
  }
  return (
    <div className={`page ${styles.page}`}>
      <header className={styles.head}>
        <BackToRun runId={runId} name={name} />
        <h1>Reasoning tree</h1>
        <span className="spacer" />
        {shown !== null && <Iterations iterations={iterations} shown={shown} ready={!loading} />}
      </header>
      {failure && <ErrorNote error={failure} />}
      {loaded && shown === null && (
        <Empty title="No reasoning">
          {run && hasEnded(run)
            ? 'The run has no training rollout, or its training episodes were deleted.'
            : 'Reasoning appears here when the first training rollout is complete.'}
        </Empty>
      )}
      {thoughts?.missing && (
        <Empty title={`No reasoning for iteration ${thoughts.iteration}`}>{thoughts.missing}</Empty>
      )}
      {thoughts && !thoughts.missing && <Tree runId={runId} thoughts={thoughts} />}
    </div>
  );
}

interface IterationsProps {
  iterations: readonly number[];
  shown: number;
  /** True when the iteration is loaded. */
  ready: boolean;
}

function Iterations({ iterations, shown, ready }: IterationsProps) {
  const runId = useRun((state) => state.runId);
  const [playing, setPlaying] = useState(false);
  const at = Math.max(
    0,
    iterations.findLastIndex((iteration) => iteration <= shown),
  );
  const last = iterations.length - 1;
  const go = (index: number) => navigate({ page: 'thoughts', runId, iteration: iterations[index] ?? null }, true);
  const latestGo = useRef(go);
  latestGo.current = go;

  useEffect(() => {
    if (!playing || !ready) return;
    if (at >= last) return setPlaying(false);
    const timer = setTimeout(() => latestGo.current(at + 1), iterationTime);
    return () => clearTimeout(timer);
  }, [playing, ready, at, last]);

  return (
    <div className={styles.iterations}>
      <IconButton
        icon={playing ? 'pause' : 'play'}
        label={playing ? 'Pause' : 'Play iterations'}
        onClick={() => {
          // At the end, restart from the beginning.
          if (!playing && at >= last) go(0);
          setPlaying(!playing);
        }}
      />
      <label>
        <span className="visually-hidden">Iteration</span>
        <input
          type="range"
          min={0}
          max={last}
          step={1}
          value={at}
          aria-valuetext={`Iteration ${shown}`}
          onChange={({ target }) => {
            setPlaying(false);
            go(Number(target.value));
          }}
        />
      </label>
      <span className={styles.iteration}>
        Iteration <strong>{shown}</strong>
      </span>
    </div>
  );
}

function Tree({ runId, thoughts }: { runId: string; thoughts: Thoughts }) {
  const { ref, width } = useWidth();
  const depth = Math.min(6, Math.max(2, Math.floor(width / minColumn)));
  const branches = useMemo(
    () =>
      thoughtTree(thoughts.thoughts, {
        depth,
        breadth: 9,
        words: 9,
        least: Math.max(2, thoughts.episodes / 32),
      }),
    [thoughts, depth],
  );
  const episodeOf = ({ opening, whole }: Branch) =>
    thoughts.thoughts.find(({ text }) => opening !== null && matches(text, opening, whole))?.episodes[0] ?? null;
  return (
    <>
      <Summary thoughts={thoughts} />
      <p className="faint small">
        Height = frequency. Read left to right. Numbers: episodes, success rate:{' '}
        <span className={styles.scale}>
          0 % <span aria-hidden="true" /> 100 %
        </span>
      </p>
      <div
        ref={ref}
        className={styles.tree}
        style={
          {
            '--column': `${Math.floor(width / depth)}px`,
            minHeight: Math.max(minHeight, leavesOf(branches) * leafHeight),
          } as React.CSSProperties
        }
      >
        {width > 0 && (
          <Branches
            branches={branches}
            total={thoughts.episodes}
            runId={runId}
            episodeOf={episodeOf}
            label={`First reasoning of iteration ${thoughts.iteration}`}
          />
        )}
      </div>
    </>
  );
}

function Summary({ thoughts: { thoughts, episodes } }: { thoughts: Thoughts }) {
  const openings = openingCounts(thoughts);
  const [most] = openings;
  if (most === undefined || episodes === 0) return null;
  const successes = thoughts.reduce((sum, each) => sum + each.successes, 0);
  return (
    <dl className={`${styles.summary} wrap`}>
      <div>
        <dt>Episodes</dt>
        <dd>{episodes}</dd>
      </div>
      <div title="Opening: the first three words, without case and punctuation">
        <dt>Distinct openings</dt>
        <dd>{openings.length}</dd>
      </div>
      <div>
        <dt>Most common opening</dt>
        <dd>{percent(most / episodes, 0)}</dd>
      </div>
      <div>
        <dt>Success</dt>
        <dd>{percent(successes / episodes, 0)}</dd>
      </div>
    </dl>
  );
}
