import { useId } from 'react';
import type { RunSummary } from '../../../../core/contract/contract.ts';
import { Button } from '../../../components/basics.tsx';
import { useDialogs } from '../../../stores/dialogs-store.ts';
import { useRun } from '../../../views/run-view.tsx';
import { EvaluationList } from './evaluation-list.tsx';

/** Shows on-demand evaluations: any checkpoint on any environment, during or after training. */
export function EvaluationsSection({ run }: { run: RunSummary }) {
  const title = useId();
  const evaluations = useRun((state) => state.evaluations);
  const loaded = useRun((state) => state.loaded);
  const active = evaluations.some(({ state }) => state === 'running');
  const { openDialog } = useDialogs.getState();
  return (
    <section className="evaluations" aria-labelledby={title}>
      <div className="section-head">
        <h2 id={title}>Evaluations</h2>
        <p className="muted">Evaluate a checkpoint on more levels, larger levels or another environment.</p>
        <span className="spacer" />
        <Button
          writes
          icon="ok"
          disabled={active}
          title={active ? 'Another evaluation is in progress' : undefined}
          onClick={() => openDialog({ kind: 'evaluate', run, checkpoint: null })}
        >
          Evaluate…
        </Button>
      </div>
      <div className="panel">
        {evaluations.length > 0 ? (
          <EvaluationList runId={run.id} evaluations={evaluations} />
        ) : (
          <p className="faint evaluation-none">
            {loaded ? 'No evaluations yet. Evaluations during training are in the charts.' : 'Loading the evaluations…'}
          </p>
        )}
      </div>
    </section>
  );
}
