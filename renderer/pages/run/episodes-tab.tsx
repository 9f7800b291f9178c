import { useMemo, useSyncExternalStore } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { Empty } from '../../components/basics.tsx';
import { episodeFiles } from '../../episodes/episode-files.ts';
import { useRun } from '../../views/run-view.tsx';
import { Wall } from '../../wall/wall.tsx';
import { FinishClip } from './finish-clip.tsx';
import { learnedIn } from './outcome.ts';
import styles from './overview.module.css';

/** Shows the newest rollout in full size and, once two checkpoints were evaluated, a clip of one level. */
export function EpisodesTab({ run }: { run: RunSummary }) {
  const series = useRun((state) => state.series);
  const rollouts = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  useSyncExternalStore(series.subscribe, () => series.version);
  const files = useMemo(() => episodeFiles(rollouts, []), [rollouts]);
  const [learned] = learnedIn(series);
  if (loaded && rollouts.length === 0 && !isLive(run.status))
    return (
      <div className="panel">
        <Empty title="No episodes">The run has no rollout, or its episode files were deleted.</Empty>
      </div>
    );
  return (
    <>
      <Wall run={run} />
      {learned && !isLive(run.status) && (
        <section className={`panel ${styles.clip}`} aria-label="Clip">
          <FinishClip run={run} files={files} learned={learned} />
        </section>
      )}
    </>
  );
}
