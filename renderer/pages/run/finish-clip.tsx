import { useMemo } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { ClipPlayer } from '../../episodes/clip/clip-player.tsx';
import { useClip } from '../../episodes/clip/use-clip.ts';
import { type EpisodeFile, episodeFiles } from '../../episodes/episode-files.ts';
import { spansOf } from '../../episodes/learned.ts';
import { useRun, useSeries } from '../../views/run-view.tsx';
import { clipRange, type Learned, learnedIn } from './outcome.ts';
import styles from './overview.module.css';

/** Shows a clip of one level after a run, once two checkpoints were evaluated: from before training to the best checkpoint and, if the run collapsed, to its end. */
export function FinishClip({ run }: { run: RunSummary }) {
  const series = useSeries();
  const rollouts = useRun((state) => state.rollouts);
  const files = useMemo(() => episodeFiles(rollouts, []), [rollouts]);
  const compared = useMemo(() => spansOf(files).length > 0, [files]);
  const [learned] = isLive(run.status) || !compared ? [] : learnedIn(series);
  if (!learned) return null;
  return (
    <section className={`panel ${styles.clip}`} aria-label="Clip">
      <Clip run={run} files={files} learned={learned} />
    </section>
  );
}

interface ClipProps {
  run: RunSummary;
  files: readonly EpisodeFile[];
  learned: Learned;
}

function Clip({ run, files, learned }: ClipProps) {
  const { upTo, peak } = clipRange(learned, run.collapse !== null);
  const result = useClip({ runId: run.id, files, set: learned.label, upTo, peak, level: null });
  return <ClipPlayer runId={run.id} name={run.name} result={result} />;
}
