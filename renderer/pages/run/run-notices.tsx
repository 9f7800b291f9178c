import { alertAdvice } from '../../../core/contract/alert-words.ts';
import type { Alert, RunSummary } from '../../../core/contract/contract.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { useRun } from '../../views/run-view.tsx';
import { AlertAnswers, isOpen, useAnswer } from './echo-trap/alerts.tsx';

/** Shows problems above the charts: a failure, a stalled trainer, low disk space, alerts. */
export function RunNotices({ run }: { run: RunSummary }) {
  const storage = useRun((state) => state.storage);
  const alerts = useRun((state) => state.alerts);
  const now = Date.now();
  // Echo Trap alerts are shown in their own panel.
  const open = alerts.filter((alert) => alert.level === null && isOpen(alert, now));
  return (
    <>
      {run.failure && <ErrorNote error={run.failure} />}
      {run.stalled && <ErrorNote error={run.stalled} kind="warning" />}
      {storage?.warnings.map((warning) => (
        <ErrorNote key={warning.code} error={warning} kind="warning" />
      ))}
      {open.map((alert) => (
        <AlertNote key={alert.id} runId={run.id} alert={alert} />
      ))}
    </>
  );
}

function AlertNote({ runId, alert }: { runId: string; alert: Alert }) {
  const answer = useAnswer(runId, alert.id);
  const { kind, message, iteration, severity } = alert;
  return (
    <ErrorNote
      error={{ code: kind, message, hint: `At iteration ${iteration}. ${alertAdvice(alert)}`.trim() }}
      kind={severity === 'critical' ? 'error' : 'warning'}
    >
      <div className="note-actions">
        <AlertAnswers runId={runId} alertId={alert.id} />
        <Button writes kind="quiet" onClick={() => answer({ state: 'cleared' })}>
          Clear
        </Button>
      </div>
    </ErrorNote>
  );
}
