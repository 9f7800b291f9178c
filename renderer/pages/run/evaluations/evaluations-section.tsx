import { useId } from 'react';
import type { RunSummary } from '../../../../core/contract/contract.ts';
import { sectionId } from '../../../components/run-sections.ts';
import { useRun } from '../../../views/run-view.tsx';
import { EvaluationForm } from './evaluation-form.tsx';
import { EvaluationList } from './evaluation-list.tsx';

/** Shows on-demand evaluations: any checkpoint on any environment, during or after training. */
export function EvaluationsSection({ run }: { run: RunSummary }) {
  const title = useId();
  const evaluations = useRun((state) => state.evaluations);
  const active = evaluations.some(({ state }) => state === 'running');
  return (
    <section id={sectionId(run.id, 'evaluations')} className="evaluations" aria-labelledby={title}>
      <div className="section-head">
        <h2 id={title}>Evaluations</h2>
        <p className="muted">Evaluate a checkpoint on more levels, larger levels or another environment.</p>
      </div>
      <div className="panel">
        <EvaluationForm run={run} active={active} />
        {evaluations.length > 0 && <EvaluationList runId={run.id} evaluations={evaluations} />}
      </div>
    </section>
  );
}
