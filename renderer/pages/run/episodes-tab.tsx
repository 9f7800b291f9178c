import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { Empty } from '../../components/basics.tsx';
import { useRun } from '../../views/run-view.tsx';
import { Wall } from '../../wall/wall.tsx';
import { FinishClip } from './finish-clip.tsx';

/** Shows the newest rollout in full size and, once two checkpoints were evaluated, a clip of one level. */
export function EpisodesTab({ run }: { run: RunSummary }) {
  const rollouts = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  if (loaded && rollouts.length === 0 && !isLive(run.status))
    return (
      <div className="panel">
        <Empty title="No episodes">The run has no rollout, or its episode files were deleted.</Empty>
      </div>
    );
  return (
    <>
      <Wall run={run} />
      <FinishClip run={run} />
    </>
  );
}
