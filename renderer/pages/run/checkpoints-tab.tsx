import type { RunSummary } from '../../../core/contract/contract.ts';
import { CheckpointsPanel } from './checkpoints-panel.tsx';
import { EvaluationsSection } from './evaluations/evaluations-section.tsx';

/** Shows the run's checkpoints, and its on-demand evaluations with a form for a new one. */
export function CheckpointsTab({ run }: { run: RunSummary }) {
  return (
    <>
      <CheckpointsPanel run={run} />
      {run.startedAt !== null && <EvaluationsSection run={run} />}
    </>
  );
}
