import { useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useApp } from '../stores/app-store.ts';
import { EvaluationForm } from './evaluation-form.tsx';

interface EvaluateRunProps {
  run: RunSummary;
  /** The checkpoint selected first; null for the newest. */
  checkpoint: number | null;
  close: () => void;
}

/** Starts an evaluation of a checkpoint. */
export function EvaluateRun({ run, checkpoint, close }: EvaluateRunProps) {
  const [busy, setBusy] = useState(false);
  const started = () => {
    close();
    useApp.getState().notify('Evaluation started.');
    navigate({ page: 'run', runId: run.id, tab: 'checkpoints' });
  };
  return (
    <Dialog
      onClose={close}
      title="Evaluate a checkpoint"
      description="Plays levels without training. The run doesn’t change; the result appears under Checkpoints & evaluations."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <button type="submit" form="evaluate" className="button" data-kind="primary" disabled={busy}>
            {busy ? 'Loading…' : 'Evaluate'}
          </button>
        </>
      }
    >
      <EvaluationForm id="evaluate" run={run} checkpoint={checkpoint} onBusy={setBusy} onStarted={started} />
    </Dialog>
  );
}
