import type { RunSummary } from '../../../core/contract/contract.ts';
import { ClipPlayer } from '../../episodes/clip/clip-player.tsx';
import { useClip } from '../../episodes/clip/use-clip.ts';
import type { EpisodeFile } from '../../episodes/episode-files.ts';
import { clipRange, type Learned } from './outcome.ts';

interface FinishClipProps {
  run: RunSummary;
  files: readonly EpisodeFile[];
  learned: Learned;
}

/** Shows a clip of one level: from before training to the best checkpoint and, if the run collapsed, to its end. */
export function FinishClip({ run, files, learned }: FinishClipProps) {
  const { upTo, peak } = clipRange(learned, run.collapse !== null);
  const result = useClip({ runId: run.id, files, set: learned.label, upTo, peak, level: null });
  return <ClipPlayer runId={run.id} name={run.name} result={result} />;
}
